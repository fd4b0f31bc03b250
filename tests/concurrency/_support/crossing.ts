/** Several runs at once, whose results, routes and claims cross on the same endpoints in every order. */

import { expect } from '@std/expect'
import type { Delivery } from '../../../functions/_shared/contract/contract.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { deadlocks, expectDeliveredOnce, expectExactCounters } from './checks.ts'
import type { OutboxDatabase, Session } from './database.ts'
import { drain, type Report, report, Run } from './dispatch.ts'
import { addEndpoints } from './endpoints.ts'
import { newSeed, Random } from './random.ts'
import { patienceMs } from '../../_support/patience.ts'

const SESSIONS = 4
const UNORDERED = 8
const ORDERED = 8
const BREAKING = 4

/** What a crossing came to. */
export interface Crossed {
  calls: number
  events: number
  seconds: number
}

/**
 * Makes `calls` dispatch calls from four sessions on twenty endpoints. Each call publishes now and then,
 * reports a random part of what its run holds in random order, has some leases of the rest renewed, and
 * claims a random number. Fails on a deadlock, an error in an answer, a delivery that was held twice or
 * delivered other than once, and counters that drift. Some of the endpoints are unordered, some ordered,
 * and some have a breaker that opens at the second failure.
 */
export async function crossDispatches(db: OutboxDatabase, calls: number): Promise<Crossed> {
  await db.reset()
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => db.open()))
  const [first] = sessions
  if (first === undefined) throw new Error('no session')
  await addEndpoints(first.sql, { count: UNORDERED, maxInFlight: 40, quantum: 7 })
  await addEndpoints(first.sql, {
    count: ORDERED,
    ordering: 'partition',
    maxInFlight: 5,
    quantum: 3,
  })
  await addEndpoints(first.sql, { count: BREAKING, breakerThreshold: 2 })
  const seed = newSeed()
  const before = await deadlocks(db.admin)
  const held = new Set<string>()
  const began = performance.now()
  const published = await Promise.all(
    sessions.map((session, index) =>
      crossOne(session, { calls: calls / SESSIONS, held, random: new Random(seed + index) })
    ),
  ).catch((cause) => {
    throw new Error(`crossing with seed ${seed} failed: ${cause.message}`, { cause })
  })
  const events = published.reduce((sum, count) => sum + count, 0)
  const seconds = (performance.now() - began) / 1000
  await expectExactCounters(db.admin)
  // An open breaker lets one through a second, and more and more once that one has arrived.
  const allDelivered = async (): Promise<boolean> => {
    await drain(first.sql)
    return (await db.admin`select from outbox.delivery`).length === 0
  }
  expect(await waitUntil(allDelivered, { timeoutMs: patienceMs })).toBe(true)
  await expectExactCounters(db.admin)
  await expectDeliveredOnce(db.admin, { events, endpoints: UNORDERED + ORDERED + BREAKING })
  expect(held.size).toBe(0)
  expect(await deadlocks(db.admin)).toBe(before)
  return { calls, events, seconds }
}

/** One run's part; returns how many events it published. At its end it reports all that it still holds. */
async function crossOne(
  { sql }: Session,
  { calls, held, random }: { calls: number; held: Set<string>; random: Random },
): Promise<number> {
  const run = new Run(sql)
  let mine: Delivery[] = []
  let events = 0
  for (let call = 1; call <= calls; call++) {
    const last = call === calls
    if (!last && random.next() < 0.3) {
      events += await publishSome(sql, random)
    }
    const order = random.shuffled(mine)
    const told = last ? order : order.slice(0, random.int(order.length + 1))
    mine = order.slice(told.length)
    const results = told.map((delivery) => report(delivery, anyOutcome(random)))
    for (const result of results) held.delete(nameOf(result))
    const renewals = mine.filter(() => random.next() < 0.2).map((own) => report(own, 'renew'))
    const answer = await run.call([...results, ...renewals], last ? 0 : random.int(60))
    const ordered = mine.filter((own) =>
      own.ordered && renewals.some((r) => nameOf(r) === nameOf(own))
    )
    if ((answer.renewed?.length ?? 0) !== ordered.length) {
      throw new Error(`${answer.renewed?.length} leases renewed of ${ordered.length}`)
    }
    if (answer.error !== null) throw new Error(`dispatch answered ${JSON.stringify(answer.error)}`)
    if (answer.stale > 0) {
      throw new Error(`${answer.stale} of ${results.length} results did not count`)
    }
    for (const delivery of answer.deliveries) {
      const name = nameOf(delivery)
      if (held.has(name)) throw new Error(`delivery ${name} is leased twice`)
      held.add(name)
      mine.push(delivery)
    }
  }
  return events
}

async function publishSome(sql: Session['sql'], random: Random): Promise<number> {
  const count = 1 + random.int(3)
  const batch = Array.from({ length: count }, () => ({
    type: 'thing.done',
    payload: {},
    partition_key: `key ${random.int(5)}`,
  }))
  await sql`select outbox.publish_many(${sql.json(batch)})`
  return count
}

function anyOutcome(random: Random): Report['outcome'] {
  const roll = random.next()
  return roll < 0.8 ? 'delivered' : roll < 0.9 ? 'failed' : 'released'
}

function nameOf({ event, endpoint }: { event: string; endpoint: string }): string {
  return `${event} ${endpoint}`
}
