/** One idempotency key is one event, however many publish with it at once; other keys never wait. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase

Deno.test.beforeAll(async () => {
  db = await startOutbox()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function publish({ sql }: Session, key: string, content = '1'): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select outbox.publish('thing.done', jsonb_build_object('content', ${content}::text), p_idempotency_key => ${key}) as id`
  return row?.id ?? ''
}

async function events(): Promise<{ events: number; unrouted: number }> {
  const [row] = await db.admin<{ events: number; unrouted: number }[]>`
    select (select count(*)::integer from outbox.event) as events, count(*)::integer as unrouted from outbox.unrouted`
  return row ?? { events: NaN, unrouted: NaN }
}

Deno.test('publish() gives 20 sessions with one key the same event', async () => {
  const sessions = await Promise.all(Array.from({ length: 20 }, () => db.open()))
  for (let round = 1; round <= 5; round++) {
    const ids = await Promise.all(
      sessions.map((session) => publish(session, `key ${round}`.replace(' ', '-'))),
    )
    expect(new Set(ids).size).toBe(1)
    expect(await events()).toEqual({ events: round, unrouted: round })
  }
})

Deno.test('publish() takes one of 20 contents for a key and refuses the others', async () => {
  const sessions = await Promise.all(Array.from({ length: 20 }, () => db.open()))
  const outcomes = await Promise.allSettled(
    sessions.map((session, index) => publish(session, 'key', `content ${index}`)),
  )
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(refused.length).toBe(19)
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'OH003' })
  expect(await events()).toEqual({ events: 1, unrouted: 1 })
})

Deno.test('publish() waits for an open transaction with its key alone, and takes the key over when that rolls back', async () => {
  const [first, same, another] = await Promise.all([db.open(), db.open(), db.open()])
  await first.sql`begin`
  const undone = await publish(first, 'key')
  await another.sql`set lock_timeout = '1ms'`
  expect(await publish(another, 'other-key')).not.toBe('')
  expect(await publish(another, 'other-key')).not.toBe(undone)
  const waiting = publish(same, 'key')
  await expectWaitsFor(db.admin, same, first)
  await first.sql`rollback`
  const id = await waiting
  expect(id).not.toBe(undone)
  expect(await publish(first, 'key')).toBe(id)
  expect(await events()).toEqual({ events: 2, unrouted: 2 })
})

Deno.test('publishers without a common idempotency key wait for nobody', async () => {
  const [open, other] = await Promise.all([db.open(), db.open()])
  const publishings = (key: string): string[] => [
    `select outbox.publish('thing.done', '{}')`,
    `select outbox.publish('thing.done', '{}', p_partition_key => 'same')`,
    `select outbox.publish('thing.done', '{}', p_idempotency_key => '${key}')`,
    `select outbox.publish_raw('thing.done', '{}', p_partition_key => 'same')`,
    `select outbox.publish_many('[{"type": "thing.done", "payload": 1, "partition_key": "same"},
      {"type": "thing.done", "payload": 1, "idempotency_key": "${key}-many"}]')`,
  ]
  await open.sql`begin`
  for (const publishing of publishings('mine')) await open.sql.unsafe(publishing)
  await other.sql`set lock_timeout = '1ms'`
  for (const publishing of publishings('yours')) await other.sql.unsafe(publishing)
  expect(await events()).toEqual({ events: 6, unrouted: 6 })
  await open.sql`commit`
  expect(await events()).toEqual({ events: 12, unrouted: 12 })
})

Deno.test('publish() returns the event of a transaction that it waited for', async () => {
  const [first, same] = await Promise.all([db.open(), db.open()])
  await first.sql`begin`
  const id = await publish(first, 'key')
  const waiting = publish(same, 'key')
  await expectWaitsFor(db.admin, same, first)
  await first.sql`commit`
  expect(await waiting).toBe(id)
})

Deno.test('publish_many() with the same keys in opposite order does not deadlock', async () => {
  const sessions = await Promise.all(Array.from({ length: 8 }, () => db.open()))
  const keys = Array.from({ length: 100 }, (_, n) => `key-${n}`)
  const answers = await Promise.all(sessions.map(async ({ sql }, index) => {
    const batch = (index % 2 === 0 ? keys : keys.toReversed()).map((key) => ({
      type: 'thing.done',
      payload: { key },
      idempotency_key: key,
    }))
    const [row] = await sql<{ ids: string[] }[]>`select outbox.publish_many(${
      sql.json(batch)
    }) as ids`
    return (row?.ids ?? []).toSorted()
  }))
  for (const ids of answers) expect(ids).toEqual(answers[0])
  expect(await events()).toEqual({ events: 100, unrouted: 100 })
})

Deno.test('publish() of two keys in opposite order in two transactions fails one of them, whose repeat gets both events', async () => {
  const [first, second] = await Promise.all([db.open(), db.open()])
  for (const { sql } of [first, second]) await sql`begin`
  const a = await publish(first, 'key-a')
  await publish(second, 'key-b')
  const firstB = publish(first, 'key-b')
  await expectWaitsFor(db.admin, first, second)
  const outcomes = await Promise.allSettled([firstB, publish(second, 'key-a')])
  const failed = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason] : []
  )
  expect(failed.map(({ code }) => code)).toEqual(['40P01'])
  const [loser, winner] = outcomes[0].status === 'rejected' ? [first, second] : [second, first]
  await loser.sql`rollback`
  await winner.sql`commit`
  const won = [await publish(winner, 'key-a'), await publish(winner, 'key-b')]
  expect([await publish(loser, 'key-a'), await publish(loser, 'key-b')]).toEqual(won)
  expect(won.includes(a)).toBe(winner === first)
  expect(await events()).toEqual({ events: 2, unrouted: 2 })
})

Deno.test('publish() under REPEATABLE READ fails on a key that was taken since, gets its event when repeated, and publishes without a key', async () => {
  const [reader, other] = await Promise.all([db.open(), db.open()])
  await reader.sql`begin isolation level repeatable read`
  await reader.sql`select 1`
  const id = await publish(other, 'key')
  await reader.sql`select outbox.publish('thing.done', '{}')`
  await expect(publish(reader, 'key')).rejects.toMatchObject({ code: '40001' })
  await reader.sql`rollback`
  await reader.sql`begin isolation level repeatable read`
  expect(await publish(reader, 'key')).toBe(id)
  await reader.sql`select outbox.publish('thing.done', '{}')`
  await reader.sql`commit`
  expect(await events()).toEqual({ events: 2, unrouted: 2 })
})
