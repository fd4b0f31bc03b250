/**
 * SKIP LOCKED may wait for a row after all (see the head of sql/engine/queue/gate.sql). A moment as short as that
 * cannot be held, so a lock of a whole table makes the same functions wait.
 */

import { expect } from '@std/expect'
import { type Call, outcomeOf, passing } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'

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

/** Makes endpoints with a gate that wake_changed() or wake_missed() wakes. */
async function addSleeping(what: string, count: number): Promise<string[]> {
  const endpoints = await addEndpoints(one.sql, { count })
  await publishMany(one.sql, 'thing.done', 1)
  await new Run(one.sql).call([], 0)
  await db.admin`select outbox.turn_ring(outbox.clock() - interval '1 min')`
  // A second before its start is outside of the ring; in an hour is later than the changed endpoint asks for.
  await db.admin`
    update outbox.gate set next_at = case when ${what} = 'wake_missed'
      then outbox.ring_from(outbox.clock()) - interval '1 s' else outbox.clock() + interval '1 h' end
    where true`
  return endpoints
}

for (const what of ['wake_changed', 'wake_missed']) {
  Deno.test(`${what}() wakes nothing if it would have to wait for a gate, and does so the next time`, async () => {
    await addSleeping(what, 1)
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

for (const what of ['wake_changed', 'wake_missed']) {
  Deno.test(`${what}() passes over a gate whose key another session holds, and wakes all others`, async () => {
    const [first = ''] = await addSleeping(what, 3)
    await other.sql`begin`
    await other.sql`select from outbox.gate g where g.endpoint_id = ${first} for key share`
    await one.sql.unsafe(`select outbox.${what}(outbox.clock())`)
    await other.sql`rollback`
    const woken = await db.admin<{ endpoint_id: string }[]>`
      select g.endpoint_id from outbox.gate g
      where g.next_at between outbox.ring_from(outbox.clock()) and outbox.clock()`
    expect([woken.length, woken.some((gate) => gate.endpoint_id === first)]).toEqual([2, false])
    // Without a wait for each gate, after which it would be refused.
    expect(one.warnings).toEqual([])
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

/** Deliveries of a deleted endpoint, each in the lane of its key. */
async function deletedEndpoint(...keys: string[]): Promise<string> {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, ordering: 'partition' })
  for (const key of keys) await publishOne(one.sql, 'thing.done', key)
  await new Run(one.sql).call([], 0)
  await one.sql`select outbox.delete_endpoint(${endpoint})`
  return endpoint
}

for (
  const [what, lock] of [
    ['delivery', 'select from outbox.delivery order by event_id limit 1 for update'],
    ['lane', 'select from outbox.lane where depth > 0 order by id limit 1 for update'],
  ] as const
) {
  Deno.test(`purge_endpoint() passes over a locked ${what}, removes all others, and this one after that`, async () => {
    const endpoint = await deletedEndpoint('a', 'b')
    const outcomes = await passing({
      one: other,
      other: one,
      holding: [lock],
      call: [`select outbox.purge_endpoint($1, 10, outbox.clock()) as n`, [endpoint]],
    })
    expect(outcomes).toEqual([{ n: 1 }, { n: 1 }])
    expect(one.warnings).toEqual([])
  })
}

Deno.test('purge_endpoint() looks for a delivery that is free, however many are locked', async () => {
  // In one lane, because the order of lanes is random.
  const endpoint = await deletedEndpoint('a', 'a')
  await other.sql`begin`
  await other.sql`select from outbox.delivery order by due_at, event_id limit 1 for update`
  const [row] = await one.sql`select outbox.purge_endpoint(${endpoint}, 1, outbox.clock()) as n`
  await other.sql`rollback`
  expect(row).toEqual({ n: 1 })
})

/** A deleted endpoint with 100 deliveries of these events. */
async function deletedWithMany(): Promise<{ endpoint: string; events: string[] }> {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const events = await publishMany(one.sql, 'thing.done', 100)
  await new Run(one.sql).call([], 0)
  await one.sql`select outbox.delete_endpoint(${endpoint})`
  return { endpoint, events }
}

/**
 * Runs a purge beside a session that holds a row of the application, and again after that. A trigger locks this row
 * before it deletes the delivery of `event`, or, without one, each delivery. Returns both outcomes, and how many
 * deliveries were tried beside that session.
 */
async function purgeTwice(
  endpoint: string | null,
  event: string | null,
  timeout = '5s',
): Promise<unknown[]> {
  await db.admin`create sequence public.tries`
  await db.admin`create table public.side as select ${event}::uuid as event_id`
  await db.admin.unsafe(`create function public.touch() returns trigger language plpgsql as $$
    begin
      perform nextval('public.tries');
      perform from public.side s where coalesce(s.event_id, old.event_id) = old.event_id for update;
      return old;
    end $$`)
  await db.admin`create trigger touch before delete on outbox.delivery
    for each row execute function public.touch()`
  try {
    const purge: Call = endpoint === null
      ? ['select outbox.purge_deleted(1000) as n']
      : ['select outbox.purge_endpoint($1, 1000, outbox.clock()) as n', [endpoint]]
    await other.sql`begin`
    await other.sql`select from public.side for update`
    await one.sql.unsafe(`set statement_timeout = '${timeout}'`)
    const held = await outcomeOf(one, purge)
    await one.sql`set statement_timeout = '5s'`
    await other.sql`rollback`
    const [tries] = await db.admin`select last_value::integer as n from public.tries`
    return [held, await outcomeOf(one, purge), tries?.n]
  } finally {
    await db.admin`drop trigger touch on outbox.delivery`
    await db.admin`drop function public.touch()`
    await db.admin`drop table public.side`
    await db.admin`drop sequence public.tries`
  }
}

// After 500 ms for each part of the rows, the 2 s of an endpoint would be over before all others are removed.
Deno.test('purge_endpoint() waits for a locked row of a deleted endpoint once, and removes all others', async () => {
  const { endpoint, events } = await deletedWithMany()
  const [held, after] = await purgeTwice(endpoint, events[50] ?? '')
  expect([held, after]).toEqual([{ n: 99 }, { n: 1 }])
})

// The parts of 100 deliveries are 199. 500 ms and 75 times 20 ms are 2 s.
Deno.test('purge_endpoint() stops after 2 s, if all deliveries wait for a lock, and later calls remove them', async () => {
  const { endpoint } = await deletedWithMany()
  const [held, , tries] = await purgeTwice(endpoint, null)
  expect(held).toEqual({ n: 0 })
  expect(tries).toBeLessThan(100)
  // The first of these calls removed those that were not tried, this one those that were.
  await db.admin`select outbox.purge_endpoint(${endpoint}, 1000, outbox.clock())`
  expect(await db.admin`select from outbox.delivery`).toHaveLength(0)
})

/** How many deleted endpoints still have a gate. */
async function gatesLeft(): Promise<number> {
  return (await db.admin`select from outbox.gate`).length
}

Deno.test('purge_deleted() waits for 500 ms for a locked row of one endpoint, removes all others, and this one after that', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 5 })
  await db.admin`select outbox.delete_endpoint(e.id) from outbox.endpoint e`
  await other.sql`begin`
  await other.sql`
    select from outbox.lane l
    where l.gate_id = (select g.id from outbox.gate g where g.endpoint_id = ${endpoint}) for update`
  await one.sql`select outbox.purge_deleted(100)`
  await other.sql`rollback`
  expect(await gatesLeft()).toBe(1)
  await db.admin`select outbox.purge_endpoint(${endpoint}, 100, outbox.clock())`
  expect(await gatesLeft()).toBe(0)
})

// Ten waits would be longer than the statement timeout.
Deno.test('purge_deleted() begins with no other endpoint after 2 s of waits', async () => {
  await addEndpoints(one.sql, { count: 10 })
  await db.admin`select outbox.delete_endpoint(e.id) from outbox.endpoint e`
  await other.sql`begin`
  await other.sql`select from outbox.lane for update`
  await one.sql`select outbox.purge_deleted(100)`
  await other.sql`rollback`
  const waited = (await db.admin`select from outbox.upkeep_refusal`).length
  expect([waited > 0, waited < 6]).toEqual([true, true])
})

// Each takes 500 ms and 59 times 20 ms alone.
Deno.test('purge_deleted() ends after 2 s, also within its second endpoint', async () => {
  await addEndpoints(one.sql, { count: 2 })
  await publishMany(one.sql, 'thing.done', 30)
  await new Run(one.sql).call([], 0)
  await db.admin`select outbox.delete_endpoint(e.id) from outbox.endpoint e`
  const [held] = await purgeTwice(null, null, '2800ms')
  expect(held).toEqual({ n: 0 })
  const refusals = await db.admin<{ sqlstate: string }[]>`
    select distinct r.sqlstate from outbox.upkeep_refusal r`
  expect(refusals.map(({ sqlstate }) => sqlstate)).toEqual(['55P03'])
})

Deno.test('purge_endpoint() begins with no delivery after the end of the whole purge', async () => {
  const { endpoint } = await deletedWithMany()
  const purge = (until: string): Promise<unknown> =>
    outcomeOf(one, [
      `select outbox.purge_endpoint($1, 100, outbox.clock(), clock_timestamp() + $2::interval) as n`,
      [endpoint, until],
    ])
  expect(await purge('-1 s')).toEqual({ n: 0 })
  expect(await purge('1 minute')).toEqual({ n: 100 })
})

Deno.test('a tick ends although somebody holds what a step needs that has no shorter timeout', async () => {
  await other.sql`begin`
  await other.sql`lock table outbox.unroutable in access exclusive mode`
  await one.sql`set statement_timeout = '5s'`
  const since = one.warnings.length
  expect(await outcomeOf(one, ['select outbox.tick() is not null as done'])).toEqual({ done: true })
  const told = one.warnings.slice(since)
  expect(told).toContainEqual(expect.stringContaining('due to lock timeout'))
  expect(told).not.toContainEqual(expect.stringContaining('due to statement timeout'))
  await other.sql`rollback`
})

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
    // purge_endpoint() calls it.
    'lock_deleted',
    'take_others',
  ])
})
