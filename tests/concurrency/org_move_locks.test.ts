/** Each step of a move locks what a run or a person may change at the same time. */

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

const move = '11111111-1111-1111-1111-111111111111'

async function createEndpoint(): Promise<string> {
  const [row] = await one.sql<{ id: string }[]>`
    select outbox.create_endpoint('https://example.com', '{a}', 'org-1') ->> 'id' as id`
  return row?.id ?? ''
}

/** A move of org-1 that is in this status, and whose older transactions have ended. */
async function setStatus(role: string, status: string): Promise<void> {
  await one.sql`
    insert into outbox.org_move (org_id, move_id, role, status, other, settled_at, started_at, changed_at)
    values ('org-1', ${move}, ${role}, ${status}, 'two', '1', outbox.clock(), outbox.clock())`
}

/** Publishes an event to the endpoints of org-1 and routes it; returns its id. */
async function openDelivery(): Promise<string> {
  const [row] = await one.sql<{ id: string }[]>`select outbox.publish('a', '{}', 'org-1') as id`
  await new Run(one.sql).call([], 0)
  return row?.id ?? ''
}

const write = (part: string): string =>
  `select outbox.write_move_page('org-1', '${part}', '', null, '[]')`

const steps: [name: string, role: string, status: string, call: string][] = [
  ['settle_move()', 'source', 'copying', `select outbox.settle_move('org-1')`],
  ['open_target()', 'target', 'receiving', `select outbox.open_target('org-1', '${move}')`],
  ['add_late_events()', 'target', 'live', `select outbox.add_late_events('org-1', '[]')`],
  ['end_moved_events()', 'source', 'moved', `select outbox.end_moved_events('org-1', '[]')`],
  ['undo_leaving()', 'source', 'closed', `select outbox.undo_leaving('org-1')`],
  ['write_move_page() of event', 'target', 'receiving', write('event')],
  ['write_move_page() of lane', 'target', 'receiving', write('lane')],
  ['write_move_page() of dead_letter', 'target', 'receiving', write('dead_letter')],
]

for (const [name, role, status, call] of steps) {
  Deno.test(`${name} waits for a run that holds a gate of the organisation`, async () => {
    const endpoint = await createEndpoint()
    await setStatus(role, status)
    await one.sql`begin`
    await one.sql`select outbox.lock_gates(array[${endpoint}::uuid])`
    const done = outcomeOf(other, [call])
    try {
      await expectWaitsFor(db.admin, other, one)
    } finally {
      await one.sql`commit`
    }
    expect(typeof await done).toBe('object')
  })
}

Deno.test('settle_move() waits for another change of the move', async () => {
  await setStatus('source', 'copying')
  await one.sql`begin`
  await one.sql`select outbox.close_source('org-1')`
  const done = outcomeOf(other, [`select outbox.settle_move('org-1') ->> 'settled' as settled`])
  try {
    await expectWaitsFor(db.admin, other, one)
  } finally {
    await one.sql`commit`
  }
  expect(await done).toEqual({ settled: 'false' })
})

Deno.test('begin_leaving() waits for a resume of an endpoint, and pauses it', async () => {
  const endpoint = await createEndpoint()
  await one.sql`select outbox.pause_endpoint(${endpoint})`
  await one.sql`begin`
  await one.sql`select outbox.resume_endpoint(${endpoint})`
  const done = outcomeOf(other, [`select outbox.begin_leaving('org-1', '${move}', 'two')`])
  try {
    await expectWaitsFor(db.admin, other, one)
  } finally {
    await one.sql`commit`
  }
  expect(typeof await done).toBe('object')
  const [row] = await db.admin`select status from outbox.endpoint`
  expect(row).toEqual({ status: 'paused' })
  expect(await outcomeOf(one, ['select outbox.resume_endpoint($1)', [endpoint]])).toBe('OH012')
})

Deno.test('undo_receiving() waits for the gates before it removes a delivery', async () => {
  const endpoint = await createEndpoint()
  await openDelivery()
  await setStatus('target', 'receiving')
  await one.sql`begin`
  await one.sql`select outbox.lock_gates(array[${endpoint}::uuid])`
  const done = outcomeOf(other, [`select outbox.undo_receiving('org-1') as more`])
  try {
    await expectWaitsFor(db.admin, other, one)
    // A run locks a delivery after its gate.
    expect(await outcomeOf(one, ['select from outbox.delivery for update nowait'])).toEqual({})
  } finally {
    await one.sql`commit`
  }
  expect(await done).toEqual({ more: true })
})

Deno.test('leave_source() counts what is open after it has waited for the gates', async () => {
  const endpoint = await createEndpoint()
  const event = await openDelivery()
  await setStatus('source', 'closed')
  await one.sql`begin`
  await one.sql`select set_config('outbox.moving', 'org-1', true)`
  await one.sql`select outbox.cancel_delivery(${event}, ${endpoint})`
  const totals = '{"endpoints": 1, "open": 1, "dead_letters": 0}'
  const done = outcomeOf(other, [`select outbox.leave_source('org-1', '${totals}')`])
  try {
    await expectWaitsFor(db.admin, other, one)
  } finally {
    await one.sql`commit`
  }
  expect(await done).toBe('OH004')
})

Deno.test('a step that waits for another run which takes the move is refused', async () => {
  await createEndpoint()
  await setStatus('target', 'receiving')
  await one.sql`select outbox.take_move('org-1', ${move})`
  await one.sql`begin`
  await one.sql`select outbox.take_move('org-1', gen_random_uuid())`
  const step = `
    with held as materialized (select outbox.hold_move('org-1', '${move}') as is_held)
    select outbox.write_move_page('org-1', 'event', '', null, '[]') from held where is_held`
  const done = outcomeOf(other, [step])
  try {
    await expectWaitsFor(db.admin, other, one)
  } finally {
    await one.sql`commit`
  }
  expect(await done).toBe('OH004')
})
