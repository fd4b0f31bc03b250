/** A side without a store: events in memory, worked off by so many loops. */

import type { BenchEvent } from './_event.ts'
import { serveSide, type SideConfig } from './_protocol.ts'
import type { Sender } from './_sender.ts'

/** Serves the side whose POSTs `create` makes. */
export async function serveCeiling(create: (config: SideConfig) => Sender): Promise<void> {
  await serveSide((config) => {
    const sender = create(config)
    const counts = { claimed: 0, errors: 0 }
    let events: BenchEvent[] = []
    let next = 0
    let loops: Promise<void>[] = []

    async function loop(): Promise<void> {
      for (;;) {
        const event = events[next++]
        if (event === undefined) return
        counts.claimed++
        await sender.send(event).catch(() => counts.errors++)
      }
    }

    return {
      counts,
      work: () => {
        next = 0
        loops = Array.from({ length: config.tuning.concurrency ?? 128 }, loop)
        return Promise.resolve()
      },
      rest: async () => {
        await Promise.all(loops)
        events = []
      },
      publish: (more) => {
        events.push(...more)
        return Promise.resolve()
      },
      stored: () => Promise.resolve({ unfinished: null, finished: null }),
      end: sender.close,
    }
  })
}
