/**
 * SKIP LOCKED may wait for a row after all (see the head of sql/engine/queue/gate.sql). A moment as short as that
 * cannot be held, so a lock of a whole table makes the same functions wait.
 */

import { expect } from '@std/expect'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
  // A call that waits for the other session ends with another error.
  await one.sql`set statement_timeout = '5s'`
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

Deno.test('a claim that would have to wait for a gate gets nothing, without an error, and the next one gets all', async () => {
  await addEndpoints(one.sql, { count: 3 })
  await publishMany(one.sql, 'thing.done', 2)
  const run = new Run(one.sql)
  await other.sql`begin`
  // due_gates() reads this table, and nothing else of the call does.
  await other.sql`lock table outbox.endpoint_refusal in access exclusive mode`
  expect(await run.call([], 10)).toMatchObject({ routed: 6, deliveries: [], error: null })
  await other.sql`commit`
  expect((await run.call([], 10)).deliveries.length).toBe(6)
})

const calls: [what: string, call: string, result: unknown][] = [
  ['try_lock_gates()', 'select outbox.try_lock_gates(array[$1::uuid]) as result', []],
  [
    'due_isolated_gate()',
    'select outbox.due_isolated_gate(outbox.clock()) as result, $1::uuid as endpoint',
    null,
  ],
]

for (const [what, call, result] of calls) {
  Deno.test(`${what} takes a gate that it would have to wait for as locked`, async () => {
    const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
    await db.admin`update outbox.gate set isolated_at = outbox.clock() where true`
    const [free] = await one.sql.unsafe(call, [endpoint])
    expect([free?.result].flat()).toEqual([endpoint])
    await other.sql`begin`
    await other.sql`lock table outbox.gate in access exclusive mode`
    const [held] = await one.sql.unsafe(call, [endpoint])
    expect(held?.result).toEqual(result)
    await other.sql`commit`
  })
}

Deno.test('lock_idle_endpoint() waits for 20 ms at most', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await other.sql`begin`
  await other.sql`lock table outbox.endpoint in access exclusive mode`
  const waiting = one.sql`select outbox.lock_idle_endpoint(${endpoint})`
  await expect(waiting).rejects.toMatchObject({ code: '55P03' })
  await other.sql`commit`
})

Deno.test('due_gates(10, …) waits for 20 ms at most', async () => {
  await other.sql`begin`
  await other.sql`lock table outbox.gate in access exclusive mode`
  const waiting = one.sql`select outbox.due_gates(10, outbox.clock())`
  await expect(waiting).rejects.toMatchObject({ code: '55P03' })
  await other.sql`commit`
})

for (const what of ['wake_changed', 'wake_missed']) {
  Deno.test(`${what}() wakes nothing if it would have to wait for a gate, and does so the next time`, async () => {
    await addEndpoints(one.sql, { count: 1 })
    await publishMany(one.sql, 'thing.done', 1)
    await new Run(one.sql).call([], 0)
    await db.admin`select outbox.turn_ring(outbox.clock() - interval '1 min')`
    // A second before its start is outside of the ring; in an hour is later than the changed endpoint asks for.
    await db.admin`
      update outbox.gate set next_at = case when ${what} = 'wake_missed'
        then outbox.ring_from(outbox.clock()) - interval '1 s' else outbox.clock() + interval '1 h' end
      where true`
    const isDue = async (): Promise<unknown> => {
      const [gate] = await db.admin`
        select g.next_at between outbox.ring_from(outbox.clock()) and outbox.clock() as is_due
        from outbox.gate g`
      return gate?.is_due
    }
    await other.sql`begin`
    await other.sql`lock table outbox.gate in access exclusive mode`
    await one.sql.unsafe(`select outbox.${what}(outbox.clock())`)
    await other.sql`commit`
    expect([await isDue(), one.warnings]).toEqual([false, []])
    await one.sql.unsafe(`select outbox.${what}(outbox.clock())`)
    expect(await isDue()).toBe(true)
  })
}

for (const table of ['endpoint', 'gate']) {
  Deno.test(`a deleted endpoint is not purged if its ${table} would have to be waited for, without an error`, async () => {
    const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
    await publishMany(one.sql, 'thing.done', 2)
    await new Run(one.sql).call([], 0)
    await one.sql`select outbox.delete_endpoint(${endpoint})`
    const purge = async (): Promise<unknown> => {
      const [row] = await one
        .sql`select outbox.purge_endpoint(${endpoint}, 10, outbox.clock()) as n`
      return row?.n
    }
    await other.sql`begin`
    await other.sql.unsafe(`lock table outbox.${table} in access exclusive mode`)
    expect(await purge()).toBe(0)
    await other.sql`commit`
    expect(await purge()).toBe(2)
  })
}

Deno.test('clean() of lanes waits for 500 ms at most', async () => {
  await other.sql`begin`
  await other.sql`lock table outbox.gate in access exclusive mode`
  await one.sql`select outbox.clean('lanes', 10, outbox.clock())`
  await other.sql`commit`
  expect([...await db.admin`select p.error from outbox.cleanup_progress p where p.name = 'lanes'`])
    .toEqual([{ error: expect.stringContaining('lock timeout') }])
})

Deno.test('each function that takes gates with SKIP LOCKED has a lock timeout, or is called by one that has', async () => {
  const rows = await db.admin<{ name: string }[]>`
    select p.proname as name from pg_catalog.pg_proc p
    where p.pronamespace = 'outbox'::regnamespace
      and p.prosrc ~ 'from outbox\\.gate' and p.prosrc ~ 'skip locked'
      and not coalesce(p.proconfig::text, '') ~ 'lock_timeout'
    order by p.proname`
  expect(rows.map(({ name }) => name)).toEqual([
    // due_gates() calls both.
    'due_suspect',
    // By try_lock_gates(); its own SKIP LOCKED is for dead letters.
    'end_broker_claims',
    // clean() calls it.
    'forget_lanes',
    'take_others',
  ])
})
