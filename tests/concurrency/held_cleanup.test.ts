/** Periodic work does not wait for locks: locked rows are processed the next time. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { cross, outcomeOf, passing } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { type Report, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { addChannels, APP, wait } from './_support/messages.ts'
import { publishMany, publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await addChannels(db.admin)
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const lockGate = 'select outbox.lock_gates(array[$1::uuid])'
const aYear = '366 days'
const saved = `select outbox.save_person('default', $1::text[], outbox.clock()) as id`

/** Somebody writes once. */
async function write(): Promise<void> {
  await db.admin`
    select outbox.receive_callbacks(${APP}, null, ${
    db.admin.json([{
      key: 'hello',
      kind: 'message',
      field: 'messages',
      waba_id: '200000000000001',
      phone_number_id: '100000000000001',
      wamid: 'wamid.hello',
      status: 'text',
      at: Date.parse('2026-03-01T12:00:00Z') / 1000,
      wa_id: '12025550111',
      user_id: 'US.1',
      data: { text: { body: 'Hello' } },
    }])
  })`
}

Deno.test('forget_updates() passes over an update that another session holds, and removes it after that', async () => {
  await write()
  await wait(db.admin, aYear)
  const outcomes = await passing({
    one,
    other,
    holding: ['select from outbox.whatsapp_update u where u.key = $1 for update', ['hello']],
    call: ['select outbox.forget_updates(outbox.clock(), 10) as n'],
  })
  expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
})

Deno.test('forget_updates() passes over what another session holds when it empties updates, and empties it after that', async () => {
  await write()
  await wait(db.admin, '10 days')
  await db.admin`update outbox.setting set value = '9' where name = 'message.retention_days'`
  try {
    const outcomes = await passing({
      one,
      other,
      holding: ['select from outbox.whatsapp_update u where u.key = $1 for update', ['hello']],
      call: ['select outbox.forget_updates(outbox.clock(), 10) as n'],
    })
    expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
    const [row] = await db.admin`select u.data from outbox.whatsapp_update u`
    expect(row).toEqual({ data: {} })
  } finally {
    await db.admin`update outbox.setting set value = '365' where name = 'message.retention_days'`
  }
})

for (
  const [what, table, left] of [
    ['an inbound message', 'inbound_message', { message: 'Hello', contacts: 0 }],
    ['a person', 'person', { message: null, contacts: 1 }],
  ] as const
) {
  Deno.test(`erase_inbound() passes over ${what} that another session holds, and erases it after that`, async () => {
    await write()
    await wait(db.admin, aYear)
    const erase =
      'select outbox.erase_inbound(outbox.clock(), 10), outbox.erase_people(outbox.clock(), 10)'
    const found = async (): Promise<unknown> => {
      const [row] = await db.admin`
        select m.text as message, (select count(*)::integer from outbox.person) as contacts
        from outbox.inbound_message m`
      return row
    }
    await one.sql`begin`
    await one.sql.unsafe(`select from outbox.${table} for update`)
    await other.sql`set lock_timeout = '1ms'`
    await other.sql.unsafe(erase)
    await other.sql`reset lock_timeout`
    await one.sql`rollback`
    expect(await found()).toEqual(left)
    await other.sql.unsafe(erase)
    expect(await found()).toEqual({ message: null, contacts: 0 })
  })
}

Deno.test('save_person() waits for a cleanup that forgets the person, and makes a new one', async () => {
  const [before] = await db.admin.unsafe(saved, ['{+12025550111}'])
  const found = await cross(db, {
    one,
    other,
    first: [`with p as (delete from outbox.person returning id)
      delete from outbox.person_identifier i using p where i.person_id = p.id`],
    second: [saved, ['{+12025550111}']],
  })
  const people = await db.admin`select p.id from outbox.person p`
  expect(people).toHaveLength(1)
  expect(found).toEqual({ id: people[0]?.id })
  expect(found).not.toEqual({ id: before?.id })
})

/** How many empty lanes are left. */
async function emptyLanes(): Promise<number> {
  return (await db
    .admin`select from outbox.lane l where (l.ordered or l.key_hash > 0) and l.depth = 0`)
    .length
}

/**
 * Calls cleanup() beside a session that holds the gate, and again after that; returns the lanes that each
 * deleted, and the empty ones that it left. A step that waited for the lock has failed: null.
 */
async function cleanTwice(endpoint: string): Promise<[deleted: number | null, left: number][]> {
  const clean = async (): Promise<[number | null, number]> => {
    const [row] = await other.sql`select (outbox.cleanup() ->> 'lanes')::integer as deleted`
    return [row?.deleted, await emptyLanes()]
  }
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [endpoint])
  const beside = await clean()
  await one.sql`rollback`
  return [beside, await clean()]
}

Deno.test('cleanup() leaves the empty lane of a key alone while another session holds its gate', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, ordering: 'partition' })
  await one.sql`update outbox.endpoint set lane_spacing_ms = 1000 where id = ${endpoint}`
  await publishOne(one.sql, 'thing.done', 'a')
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await run.call(deliveries.map((own) => report(own)))
  await wait(db.admin, '2 s')
  expect(await emptyLanes()).toBe(1)
  expect(await cleanTwice(endpoint)).toEqual([[0, 1], [1, 0]])
})

Deno.test('cleanup() leaves the empty lane of a replay job alone while another session holds its gate', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await run.call(deliveries.map((own): Report => ({ ...report(own, 'failed'), status: 404 })))
  await one.sql`select outbox.replay_many()`
  await one.sql`select outbox.work_replay_jobs(outbox.clock())`
  await one.sql`select outbox.work_replay_jobs(outbox.clock())`
  await run.call((await run.call([], 1)).deliveries.map((own) => report(own)))
  await wait(db.admin, '2 days')
  expect(await emptyLanes()).toBe(1)
  expect(await cleanTwice(endpoint)).toEqual([[0, 1], [1, 0]])
})

Deno.test('expire_deliveries() passes over a locked delivery, expires all others, and this one after that', async () => {
  await addEndpoints(one.sql, { count: 3 })
  await publishOne(one.sql)
  await new Run(one.sql).call([], 0)
  await wait(db.admin, '31 days')
  const outcomes = await passing({
    one,
    other,
    holding: ['select from outbox.delivery d order by d.endpoint_id limit 1 for update'],
    call: ['select outbox.expire_deliveries(10) as n'],
  })
  expect(outcomes).toEqual([{ n: 2 }, { n: 1 }])
  await expectExactCounters(db.admin)
})

/** What expires while another session holds the dead letters of the first event, call by call. */
async function expiredBesideHeld(endpoints: number, calls: number): Promise<unknown[]> {
  await addEndpoints(one.sql, { count: endpoints })
  await publishMany(one.sql, 'thing.done', 2)
  await new Run(one.sql).call([], 0)
  await wait(db.admin, '31 days')
  await one.sql`select outbox.expire_deliveries(100)`
  await one.sql`select outbox.replay(d.event_id, d.endpoint_id) from outbox.dead_letter d`
  await wait(db.admin, '31 days')
  await one.sql`begin`
  // Those of the event that it expires first.
  await one.sql`select from outbox.dead_letter d order by d.event_id limit ${endpoints} for update`
  const outcomes: unknown[] = []
  await other.sql`set statement_timeout = '10s'`
  for (let call = 0; call < calls; call++) {
    outcomes.push(await outcomeOf(other, ['select outbox.expire_deliveries(100) as n']))
  }
  await other.sql`reset statement_timeout`
  await one.sql`rollback`
  return outcomes
}

Deno.test('expire_deliveries() leaves out each dead letter that another session holds, and expires all others', async () => {
  expect(await expiredBesideHeld(5, 1)).toEqual([{ n: 5 }])
})

Deno.test('expire_deliveries() ends after ten waits, and the next call goes on', async () => {
  expect(await expiredBesideHeld(12, 2)).toEqual([{ n: 0 }, { n: 12 }])
})

Deno.test('expire_deliveries() expires the deliveries of all endpoints beside one with more old ones, whose gate another session holds', async () => {
  const [held = '', free = ''] = await addEndpoints(one.sql, { count: 2 })
  await publishMany(one.sql, 'thing.done', 20)
  await new Run(one.sql).call([], 0)
  await db.admin`
    update outbox.delivery d set replayed_at = outbox.clock()
    where d.endpoint_id = ${free} and d.event_id < (
      select e.id from outbox.event e where e.org_id = 'default' order by e.id offset 17 limit 1)`
  await wait(db.admin, '31 days')
  await db.admin`
    update outbox.delivery set replayed_at = outbox.clock() where replayed_at is not null`
  const outcomes = await passing({
    one,
    other,
    holding: [lockGate, [held]],
    call: ['select outbox.expire_deliveries(6) as n'],
  })
  expect(outcomes).toEqual([{ n: 3 }, { n: 6 }])
})

Deno.test('expire_deliveries() passes over a gate that another session holds, and expires its deliveries after that', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  await new Run(one.sql).call()
  await wait(db.admin, '31 days')
  const outcomes = await passing({
    one,
    other,
    holding: [lockGate, [endpoint]],
    call: ['select outbox.expire_deliveries(10) as n'],
  })
  expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
  await expectExactCounters(db.admin)
})

for (
  const [what, holding] of [
    ['endpoint', 'select from outbox.endpoint e where e.id = $1 for no key update'],
    ['gate', lockGate],
  ] as const
) {
  Deno.test(
    `purge_deleted() passes over an endpoint whose ${
      what === 'gate' ? 'gate' : 'row'
    } another session holds, and purges it after that`,
    async () => {
      const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
      await publishOne(one.sql)
      await new Run(one.sql).call()
      await one.sql`select outbox.delete_endpoint(${endpoint})`
      const outcomes = await passing({
        one,
        other,
        holding: [holding, [endpoint]],
        call: ['select outbox.purge_deleted(10) as n'],
      })
      expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
    },
  )
}

Deno.test('the cleanup deletes old keys beside one that another session holds, and this one after that', async () => {
  await db.admin`
    insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
    select 'default', 'key ' || n, gen_random_uuid(), '', '2020-01-01'
    from generate_series(1, 20) n`
  await one.sql`begin`
  await one.sql`select from outbox.idempotency_key k where k.key = 'key 7' for update`
  const clean = "select outbox.clean('idempotency_keys', 100, outbox.clock()) as n"
  await other.sql.unsafe(clean)
  const left = await db.admin`select k.key from outbox.idempotency_key k`
  expect([...left]).toEqual([{ key: 'key 7' }])
  await one.sql`rollback`
  await other.sql.unsafe(clean)
  expect([...await db.admin`select from outbox.idempotency_key`]).toEqual([])
  expect([...await db.admin`select from outbox.upkeep_refusal`]).toEqual([])
})
