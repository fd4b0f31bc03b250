/** A store that never runs dry: a publisher keeps a backlog while the workers work it off. */

import type { Report } from '../receiver.ts'
import type { SideSpec } from '../sides/catalog.ts'
import { openAccount } from './account.ts'
import type { Bench } from './bench.ts'
import type { Child } from './child.ts'

export interface Saturation {
  spec: SideSpec
  workers: Child[]
  publisher: Child
  /** So many deliveries wait at any time. */
  backlog: number
  /** How many of them lie in the store already, as the events from 0. */
  loaded: number
  seconds: number
}

const WARM_UP_MS = 1_500
/** How long the first delivery may take: on a busy machine, a new session plans for seconds. */
const FIRST_MS = 15_000
const BATCH = 500
const PORTION = 1_000
const LOOK_MS = 10
/** The most that is published in one call. */
const MOST_PER_SECOND = 40_000

/** Deliveries a second, counted at the receiver after a moment of warming up. Throws as drain() does. */
export async function saturate(
  { receiver, server, turn }: Bench,
  { spec, workers, publisher, backlog, loaded, seconds }: Saturation,
): Promise<number> {
  await turn(spec)
  const account = await openAccount(spec.name, receiver, workers)
  await receiver.ask({ do: 'reset', size: loaded + backlog + MOST_PER_SECOND * (seconds + 10) })
  let published = loaded
  const report = (): Promise<Report> => receiver.ask<Report>({ do: 'report' })

  async function publish(count: number): Promise<void> {
    await publisher.ask({ do: 'publish', from: published, count, batch: BATCH })
    published += count
  }

  while (published < backlog) await publish(Math.min(PORTION, backlog - published))
  await server.sql`checkpoint`
  for (const worker of workers) await worker.ask({ do: 'work' })
  const begun = performance.now()
  let measured: { at: number; distinct: number } | undefined
  for (;;) {
    const { distinct } = await report()
    const at = performance.now()
    const isWarm = at - begun >= (distinct > 0 ? WARM_UP_MS : FIRST_MS)
    if (measured === undefined && isWarm) measured = { at, distinct }
    // From the first look, not from the start: a look waits for the publisher.
    if (measured !== undefined && at - measured.at >= seconds * 1000) {
      await Promise.all(workers.map((worker) => worker.ask({ do: 'rest' })))
      await account.close(published, false)
      return (distinct - measured.distinct) / (at - measured.at) * 1000
    }
    if (published - distinct < backlog) await publish(PORTION)
    else await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
