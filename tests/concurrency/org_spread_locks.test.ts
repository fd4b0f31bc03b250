/** Each step in which an endpoint changes its database locks what a person may change at the same time. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { outcomeOf } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

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
  await one.sql`select outbox.pause_endpoint(${id}, outbox.arrival_reason('eu-1'))`
  return id
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

Deno.test('send_endpoint() waits for a change of the endpoint, and sends it', async () => {
  const id = await createEndpoint()
  expect(
    await beside(
      `select outbox.subscribe('${id}', '{b}')`,
      `select pg_catalog.jsonb_array_length(outbox.send_endpoint('${id}')::jsonb -> 'subscriptions') as n`,
    ),
  ).toEqual({ n: 2 })
})

Deno.test('send_endpoint() holds the gate, so whoever replays to the endpoint waits, and it refuses while somebody does', async () => {
  const id = await createEndpoint()
  expect(
    await beside(
      `select outbox.send_endpoint('${id}')`,
      `select outbox.lock_gates(array['${id}'::uuid])`,
    ),
  ).toEqual({ lock_gates: '' })
  await one.sql`begin`
  await one.sql`select outbox.lock_gates(array[${id}::uuid])`
  expect(await outcomeOf(other, [`select outbox.send_endpoint('${id}')`])).toBe('OH004')
  await one.sql`commit`
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

Deno.test('open_endpoint() waits for a change of the endpoint, and leaves what a person has deleted', async () => {
  const id = await createArrival()
  expect(
    await beside(
      `select outbox.delete_endpoint('${id}')`,
      `select outbox.open_endpoint('${id}', 'eu-1')`,
    ),
  ).toEqual({ open_endpoint: '' })
  expect(await statusOf(id)).toEqual({ status: 'deleted', reason: 'deleted' })
})

Deno.test('drop_arrival() waits for another run that opens the endpoint, and leaves it', async () => {
  const id = await createArrival()
  await beside(
    `select outbox.open_endpoint('${id}', 'eu-1')`,
    `select outbox.drop_arrival('${id}', 'eu-1')`,
  )
  expect(await statusOf(id)).toEqual({ status: 'enabled', reason: null })
})
