/** Refusals, unreadable secrets and foreign contracts beside a session that holds the rows. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { cross, passing } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const lockGate = 'select outbox.lock_gates(array[$1::uuid])'
const lockDelivery = `
  update outbox.delivery d set due_at = d.due_at where d.event_id = $1 and d.endpoint_id = $2`

Deno.test('hold_unreadable() passes over an endpoint that somebody is changing, and holds it after that', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const outcomes = await passing({
    one,
    other,
    holding: ['select from outbox.endpoint e where e.id = $1 for no key update', [endpoint]],
    call: [`select outbox.hold_unreadable($1, 'unreadable: x', outbox.clock()) as held`, [
      endpoint,
    ]],
  })
  expect(outcomes).toEqual([{ held: false }, { held: true }])
})

Deno.test('refuse_contract() waits for no other call of the run, and ends the run at the next refusal', async () => {
  const run = new Run(one.sql)
  await run.call()
  const outcomes = await passing({
    one,
    other,
    holding: ['select from outbox.run r where r.id = $1 for update', [run.id]],
    call: [
      `select outbox.dispatch($1, 2, p_contract => '{"oldest": 99, "newest": 99}') ->> 'stop' as stop`,
      [run.id],
    ],
  })
  expect(outcomes).toEqual([{ stop: 'contract' }, { stop: 'contract' }])
  const [row] = await one
    .sql`select ended_at is not null as ended from outbox.run where id = ${run.id}`
  expect(row).toEqual({ ended: true })
})

Deno.test('retry_now() of a delivery that could not be made waits for the gate before it makes the delivery, and makes it once', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  await db.admin`delete from outbox.unrouted where event_id = ${event}`
  await db.admin`
    insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
    values (${event}, ${endpoint}, 'routing', 3, 'P0001', 'no', outbox.clock(), 'infinity')`
  const make = 'select outbox.retry_now($1, $2) is not null as made'
  const second = await cross(db, {
    one,
    other,
    first: [lockGate, [endpoint]],
    second: [make, [event, endpoint]],
    meanwhile: async () => {
      await one.sql.unsafe(make, [event, endpoint])
    },
  })
  expect(second).toEqual({ made: true })
  const [row] = await one.sql`
    select count(*)::integer as n from outbox.delivery where event_id = ${event}`
  expect(row).toEqual({ n: 1 })
  await expectExactCounters(db.admin)
})

Deno.test('a repeated call that must give back waits for the gate, and has changed no delivery yet', async () => {
  const [row] = await one.sql`
    select outbox.create_endpoint('https://example.com/hook') ->> 'id' as id`
  const endpoint: string = row?.id
  const event = await publishOne(one.sql)
  const run = crypto.randomUUID()
  await dispatch(one.sql, { run, seq: 1 })
  expect((await dispatch(one.sql, { run, seq: 2, limit: 1 })).deliveries).toMatchObject([{ event }])
  await db.admin`
    update vault.secrets v set secret = ${btoa('x'.repeat(64))}
    from outbox.endpoint_secret s where s.endpoint_id = ${endpoint} and v.id = s.vault_id`
  const repeated = await cross(db, {
    one,
    other,
    first: [lockGate, [endpoint]],
    second: [
      `select outbox.dispatch($1, 2, p_limit => 1, p_kind => 'worker') ->> 'deliveries' as deliveries`,
      [run],
    ],
    meanwhile: async () => {
      await one.sql.unsafe(lockDelivery, [event, endpoint])
    },
  })
  expect(repeated).toEqual({ deliveries: '[]' })
  await expectExactCounters(db.admin)
})
