/** Publishers that note what they committed. More is published at noon than at midnight. */

import type { Random } from '../../concurrency/_support/random.ts'
import type { DayLedger } from './ledger.ts'
import { FAN_OUT, type World } from './world.ts'

const BATCH = 500
const KEYS = 5_000
/** As long as an ordinary order as JSON. */
const TEXT = 'x'.repeat(380)

/** Publishes what falls into one step. `share`: the part of a day that the step is. */
export async function publishStep(
  { sql, endpoints }: World,
  { random, ledger, perDay, dayShare, share }: {
    random: Random
    ledger: DayLedger
    /** Deliveries of one day. */
    perDay: number
    /** How much of the day is over, 0 to 1. */
    dayShare: number
    share: number
  },
): Promise<void> {
  // Four times as much at noon as at midnight, and on average as much as a flat day.
  const busy = 1 - 0.6 * Math.cos(2 * Math.PI * dayShare)
  const exact = perDay / FAN_OUT * share * busy
  let left = Math.floor(exact) + (random.next() < exact % 1 ? 1 : 0)
  while (left > 0) {
    const events = Array.from({ length: Math.min(left, BATCH) }, () => event(random))
    const [row] = await sql<{ ids: string[] }[]>`
      select outbox.publish_many(${sql.json(events)}) as ids`
    for (const [n, id] of (row?.ids ?? []).entries()) {
      const type = Number(events[n]?.type.slice('load.e'.length))
      for (let at = type; at < endpoints.length; at += endpoints.length / FAN_OUT) {
        ledger.publish(endpoints[at] ?? '', id)
      }
    }
    left -= events.length
  }
}

type NewEvent = {
  type: string
  payload: { text: string }
  partition_key: string
  idempotency_key?: string
}

/** Every second event has an idempotency key. */
function event(random: Random): NewEvent {
  return {
    type: `load.e${random.int(10)}`,
    payload: { text: TEXT },
    partition_key: `customer-${random.int(KEYS)}`,
    ...random.int(2) === 0 ? {} : { idempotency_key: crypto.randomUUID() },
  }
}
