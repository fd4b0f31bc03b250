/** Each call that changes a message locks its gate, then the message, so it sees the change of the other. */

import { expect } from '@std/expect'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { cross, outcomeOf, passing } from './_support/crossing_calls.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import {
  addChannels,
  addMessage,
  type Message,
  refused,
  say,
  statusOf,
  take,
  taken,
  wait,
} from './_support/messages.ts'

let db: OutboxDatabase
let one: Session
let other: Session
let run: Run
let message: Message

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
  // A callback waits a second at most; a busy machine may take longer to come to it.
  await db.admin`alter function outbox.apply_updates set lock_timeout = '2min'`
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await addChannels(db.admin)
  message = await addMessage(db.admin)
  run = new Run(one.sql)
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const row = 'select m from outbox.outbound_message m where m.id = $1'

/** A row of the message as it is now, but of another status. */
const as = (status: string): string =>
  `(select jsonb_populate_record(m, '{"status": "${status}"}') from outbox.outbound_message m where m.id = $1)`

/** Leaves the message QUEUED behind a try whose answer was lost, its retry due. */
async function loseAnswer(): Promise<void> {
  await run.call([refused(await take(run), null)])
  expect(await statusOf(db.admin, message)).toBe('QUEUED')
  await wait(db.admin, '1 hour')
}

/** What a claim in the transaction of `one` takes, once `other` waits for it. */
async function claimMeanwhile(): Promise<void> {
  const answer = await run.call([], 1)
  expect(answer).toMatchObject({ error: null, deliveries: [{ event: message.event }] })
}

const lockGate = 'select outbox.lock_gates(array[$1::uuid])'

Deno.test('cancel_message() waits for the gate before it takes the message, and then finds it being sent', async () => {
  await run.call()
  const cancelled = await cross(db, {
    one,
    other,
    first: [lockGate, [message.channel]],
    second: [`select outbox.cancel_message('default', $1)`, [message.id]],
    meanwhile: claimMeanwhile,
  })
  expect(cancelled).toBe('OH004')
  expect(await statusOf(db.admin, message)).toBe('SENDING')
  await expectExactCounters(db.admin)
})

Deno.test('resend_message() beside the erasure of the message waits for it, and sends nothing without content', async () => {
  await run.call([refused(await take(run), '131026')])
  expect(await statusOf(db.admin, message)).toBe('FAILED')
  await wait(db.admin, '1000 days')
  const resent = await cross(db, {
    one,
    other,
    first: ['select outbox.erase_messages(10)'],
    second: [`select outbox.resend_message('default', $1)`, [message.id]],
  })
  expect(resent).toBe('OH004')
  expect(await statusOf(db.admin, message)).toBe('FAILED')
})

Deno.test('resend_message() beside a resend of the same message waits for it, and queues it once', async () => {
  await run.call([refused(await take(run), '131026')])
  const resend = `select outbox.resend_message('default', $1)`
  const second = await cross(db, {
    one,
    other,
    first: [resend, [message.id]],
    second: [resend, [message.id]],
  })
  expect(second).toBe('OH004')
  expect(
    await db
      .admin`select from outbox.unrouted u join outbox.outbound_message m on m.event_id = u.event_id`,
  )
    .toHaveLength(1)
})

Deno.test('save_message() waits for a change of the message, and is refused the step that is not drawn from there', async () => {
  const saved = await cross(db, {
    one,
    other,
    first: [`update outbox.outbound_message set status = 'CANCELLED' where id = $1`, [message.id]],
    second: [`select outbox.save_message(${as('SENDING')}, outbox.clock())`, [message.id]],
  })
  expect(saved).toBe('OH004')
  expect(await statusOf(db.admin, message)).toBe('CANCELLED')
})

Deno.test('close_message() waits for a change of the message, and leaves one alone that waits no more', async () => {
  const closed = await cross(db, {
    one,
    other,
    first: [`update outbox.outbound_message set status = 'SENT' where id = $1`, [message.id]],
    second: [
      `select outbox.close_message($1, 'cancelled', 'by hand', outbox.clock()) is not null as done`,
      [message.event],
    ],
  })
  expect(closed).toEqual({ done: true })
  expect(await statusOf(db.admin, message)).toBe('SENT')
})

Deno.test('a claim waits for a change of the message, and sends none that was cancelled meanwhile', async () => {
  await run.call()
  await other.sql`begin`
  await other.sql`update outbox.outbound_message set status = 'CANCELLED' where id = ${message.id}`
  const claiming = run.call([], 1)
  await expectWaitsFor(db.admin, one, other)
  await other.sql`commit`
  expect(await claiming).toMatchObject({ deliveries: [], error: null })
  expect(await statusOf(db.admin, message)).toBe('CANCELLED')
  expect(await db.admin`select from outbox.message_attempt`).toHaveLength(0)
  // It is over: nothing was refused, and nothing is tried again.
  expect(await db.admin`select from outbox.refusal`).toHaveLength(0)
  expect(await db.admin`select from outbox.delivery`).toHaveLength(0)
  await expectExactCounters(db.admin)
})

Deno.test('the answer to a message waits for a status that says more, and takes nothing back', async () => {
  const delivery = await take(run)
  await other.sql`begin`
  await say(other.sql, message, 'delivered')
  const answering = run.call([taken(delivery)])
  await expectWaitsFor(db.admin, one, other)
  await other.sql`commit`
  expect(await answering).toMatchObject({ applied: 1, error: null })
  expect(await statusOf(db.admin, message)).toBe('DELIVERED')
  await expectExactCounters(db.admin)
})

Deno.test('mark_sent_late() waits for the gate before it takes the message, and leaves a new try its delivery', async () => {
  await loseAnswer()
  const adopted = await cross(db, {
    one,
    other,
    first: [lockGate, [message.channel]],
    second: [`select outbox.mark_sent_late($1, 'wamid.late') as answer`, [`ob1:${message.id}:1`]],
    meanwhile: claimMeanwhile,
  })
  expect(adopted).toEqual({ answer: 'adopted' })
  expect(await statusOf(db.admin, message)).toBe('SENT')
  expect(await db.admin`select from outbox.delivery`).toHaveLength(1)
  await expectExactCounters(db.admin)
})

Deno.test('mark_sent_late() waits for a status of the same try, and knows its id then', async () => {
  await take(run)
  await one.sql`begin`
  await say(one.sql, message, 'delivered')
  const adopting = outcomeOf(other, [
    'select outbox.mark_sent_late($1, $2) as answer',
    [`ob1:${message.id}:1`, `wamid.${message.event}`],
  ])
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await adopting).toEqual({ answer: 'known' })
  expect(await statusOf(db.admin, message)).toBe('DELIVERED')
})

Deno.test('report_status() waits for the gate before it takes the message', async () => {
  await run.call([taken(await take(run))])
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [message.channel])
  const reporting = outcomeOf(other, [
    `select outbox.report_status($1, $2, 'delivered') as became`,
    [message.channel, `wamid.${message.event}`],
  ])
  await expectWaitsFor(db.admin, other, one)
  // It holds nothing of the message yet.
  await one.sql`select from outbox.outbound_message m where m.id = ${message.id} for update nowait`
  await one.sql`commit`
  expect(await reporting).toEqual({ became: 'DELIVERED' })
  await expectExactCounters(db.admin)
})

Deno.test('report_status() waits for a status of the same attempt, and the first one counts', async () => {
  await run.call([taken(await take(run))])
  await one.sql`begin`
  await say(one.sql, message, 'failed')
  const reporting = outcomeOf(other, [
    `select outbox.report_status($1, $2, 'delivered') as became`,
    [message.channel, `wamid.${message.event}`],
  ])
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await reporting).toEqual({ became: 'FAILED' })
  expect(await statusOf(db.admin, message)).toBe('FAILED')
})

Deno.test('a status of a message that waits for its retry waits for the gate before it takes the message', async () => {
  await loseAnswer()
  await one.sql`begin`
  await one.sql.unsafe(lockGate, [message.channel])
  const saying = say(other.sql, message, 'delivered')
  await expectWaitsFor(db.admin, other, one)
  await claimMeanwhile()
  await one.sql`commit`
  await saying
  const [update] = await db.admin`select u.update_status, u.reason from outbox.whatsapp_update u`
  expect(update).toEqual({ update_status: 'applied', reason: null })
  // A newer attempt is being sent, but what arrived has arrived.
  expect(await statusOf(db.admin, message)).toBe('DELIVERED')
  await expectExactCounters(db.admin)
})

Deno.test('a status waits for another of the same try, and is judged by what that has made of it', async () => {
  await run.call([taken(await take(run))])
  await one.sql`begin`
  await say(one.sql, message, 'failed')
  const saying = say(other.sql, message, 'delivered')
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  await saying
  const updates = async (): Promise<unknown[]> => [
    ...await db.admin`
      select u.status, u.update_status, u.reason from outbox.whatsapp_update u order by u.id`,
  ]
  const failed = { status: 'failed', update_status: 'applied', reason: null }
  // The message has failed meanwhile, so its gate is locked first: the next tick does that.
  expect(await updates())
    .toEqual([failed, { status: 'delivered', update_status: 'stored', reason: 'retry_pending' }])
  await db.admin`select outbox.apply_callbacks()`
  expect(await updates())
    .toEqual([failed, { status: 'delivered', update_status: 'skipped', reason: 'after_failed' }])
  expect(await statusOf(db.admin, message)).toBe('FAILED')
})

Deno.test('erase_messages() passes over a message that another session holds, and erases it after that', async () => {
  await run.call([taken(await take(run))])
  await wait(db.admin, '1000 days')
  const outcomes = await passing({
    one,
    other,
    holding: [`${row} for update`, [message.id]],
    call: ['select outbox.erase_messages(10) as n'],
  })
  expect(outcomes).toEqual([{ n: 0 }, { n: 1 }])
})
