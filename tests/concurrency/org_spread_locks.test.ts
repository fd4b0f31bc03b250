/** Each step in which an endpoint changes its database locks what a person may change at the same time. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { outcomeOf } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'

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

async function createEndpoint(): Promise<string> {
  const [row] = await one.sql<{ id: string }[]>`
    select outbox.create_endpoint('https://example.com', '{a}', 'org-1') ->> 'id' as id`
  return row?.id ?? ''
}

/** An endpoint that moves here from eu-1. */
async function createArrival(): Promise<string> {
  const id = await createEndpoint()
  await makeArrival(id)
  return id
}

async function makeArrival(id: string): Promise<void> {
  await one.sql`
    update outbox.endpoint set status = 'paused', status_reason = outbox.arrival_reason('eu-1')
    where id = ${id}`
}

/** Runs `call` beside an open transaction with `change`, for which it may not wait; then again, after the commit. */
async function withoutWaiting(change: string, call: string): Promise<[string, unknown]> {
  await one.sql`begin`
  await one.sql.unsafe(change)
  await other.sql`set lock_timeout = '2s'`
  const refused = await other.sql.unsafe(call).then(
    () => 'accepted',
    ({ code, message }) => `${code} ${message}`,
  )
  await other.sql`reset lock_timeout`
  await one.sql`commit`
  return [refused, await outcomeOf(other, [call])]
}

/** Runs `call` beside a transaction that has carried out `change`, and returns its outcome after the commit. */
async function beside(change: string, call: string): Promise<unknown> {
  await one.sql`begin`
  await one.sql.unsafe(change)
  const done = outcomeOf(other, [call])
  try {
    await expectWaitsFor(db.admin, other, one)
  } finally {
    await one.sql`commit`
  }
  return await done
}

async function statusOf(id: string): Promise<unknown> {
  const [row] = await db.admin`
    select e.status, e.status_reason as reason from outbox.endpoint e where e.id = ${id}`
  return row
}

Deno.test('hold_events() waits for whoever publishes, and then nobody publishes', async () => {
  expect(
    await beside(
      `select outbox.publish('a', '{}', 'org-1')`,
      'select outbox.hold_events()',
    ),
  ).toEqual({ hold_events: '' })
  await one.sql`begin`
  await one.sql`select outbox.hold_events()`
  const done = outcomeOf(other, [
    `select outbox.publish('a', '{}', 'org-1') is not null as is_done`,
  ])
  try {
    await expectWaitsFor(db.admin, other, one)
  } finally {
    await one.sql`commit`
  }
  expect(await done).toEqual({ is_done: true })
})

Deno.test('send_endpoint() refuses an endpoint that somebody changes, and then sends the change', async () => {
  const id = await createEndpoint()
  expect(
    await withoutWaiting(
      `select outbox.subscribe('${id}', '{b}')`,
      `select pg_catalog.jsonb_array_length(outbox.send_endpoint('${id}')::jsonb -> 'subscriptions') as n`,
    ),
  ).toEqual([`OH004 endpoint ${id} is in use by another transaction`, { n: 2 }])
  expect(
    await withoutWaiting(
      `select outbox.delete_endpoint('${id}')`,
      `select outbox.send_endpoint('${id}')`,
    ),
  ).toEqual([`OH004 endpoint ${id} is in use by another transaction`, 'OH002'])
})

Deno.test('send_endpoint() holds the endpoint and its gate, so a change and a replay wait, and it refuses while somebody replays', async () => {
  const id = await createEndpoint()
  for (
    const call of [
      `select outbox.lock_gates(array['${id}'::uuid])`,
      `select outbox.subscribe('${id}', '{b}') is null as lock_gates`,
    ]
  ) {
    expect(typeof await beside(`select outbox.send_endpoint('${id}')`, call)).toBe('object')
  }
  const [refused] = await withoutWaiting(
    `select outbox.lock_gates(array['${id}'::uuid])`,
    `select outbox.send_endpoint('${id}')`,
  )
  expect(refused).toBe(`OH004 endpoint ${id} is in use by a run or a replay`)
})

Deno.test('receive_endpoint() refuses to replace an arrival that somebody has locked', async () => {
  const id = await createEndpoint()
  const [row] = await one.sql<{ item: string }[]>`select outbox.send_endpoint(${id}) as item`
  await makeArrival(id)
  const call = `select outbox.receive_endpoint('org-1', 'eu-1', $item$${row?.item}$item$)`
  expect(await withoutWaiting(`select outbox.lock_gates(array['${id}'::uuid])`, call))
    .toEqual([`OH004 endpoint ${id} is in use by a run or a replay`, { receive_endpoint: '' }])
  expect(await withoutWaiting(`select outbox.drop_arrival('${id}', 'eu-1')`, call))
    .toEqual([`OH004 endpoint ${id} is in use by another transaction`, { receive_endpoint: '' }])
})

Deno.test('has_left() waits for another run that moves the endpoint', async () => {
  const id = await createEndpoint()
  expect(
    await beside(
      `select outbox.leave_endpoint('${id}', 'eu-2')`,
      `select outbox.has_left('${id}', 'eu-2')`,
    ),
  ).toEqual({ has_left: true })
})

Deno.test('open_endpoint() waits for a change of the endpoint, and leaves what a person has dropped', async () => {
  const id = await createArrival()
  expect(
    await beside(
      `select outbox.drop_arrival('${id}', 'eu-1')`,
      `select outbox.open_endpoint('${id}', 'eu-1')`,
    ),
  ).toEqual({ open_endpoint: '' })
  expect(await statusOf(id)).toBeUndefined()
})

for (
  const step of [`has_left($1, 'eu-1')`, `open_endpoint($1, 'eu-1')`, `drop_arrival($1, 'eu-1')`]
) {
  Deno.test(`${step} waits for 2 s, and then fails`, async () => {
    const id = await createArrival()
    await one.sql`begin`
    await one.sql`select from outbox.endpoint e where e.id = ${id} for update`
    try {
      // Without a bound, this ends the wait with another code.
      await other.sql`set statement_timeout = '10s'`
      expect(await outcomeOf(other, [`select outbox.${step}`, [id]])).toBe('55P03')
    } finally {
      await one.sql`rollback`
      await other.sql`reset statement_timeout`
    }
  })
}

Deno.test('drop_arrival() waits for another run that opens the endpoint, and leaves it', async () => {
  const id = await createArrival()
  await beside(
    `select outbox.open_endpoint('${id}', 'eu-1')`,
    `select outbox.drop_arrival('${id}', 'eu-1')`,
  )
  expect(await statusOf(id)).toEqual({ status: 'enabled', reason: null })
})

Deno.test('drop_arrival() waits for a run that routes to the endpoint, and removes what this run has added', async () => {
  const id = await createArrival()
  await one.sql`select outbox.publish('a', '{}', 'org-1')`
  await one.sql`begin`
  expect(await new Run(one.sql).call([], 0)).toMatchObject({ routed: 1 })
  const done = outcomeOf(other, [`select outbox.drop_arrival('${id}', 'eu-1')`])
  try {
    await expectWaitsFor(db.admin, other, one)
  } finally {
    await one.sql`commit`
  }
  expect(await done).toEqual({ drop_arrival: '' })
  const [row] = await db.admin`
    select (select count(*)::integer from outbox.endpoint) as endpoints,
      (select count(*)::integer from outbox.gate) as gates,
      (select count(*)::integer from outbox.lane) as lanes,
      (select count(*)::integer from outbox.delivery) as deliveries`
  expect(row).toEqual({ endpoints: 0, gates: 0, lanes: 0, deliveries: 0 })
})
