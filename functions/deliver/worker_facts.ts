import type { Clock } from '../_shared/base/clock.ts'
import { version } from '../_shared/base/version.ts'
import type { Result, WorkerFacts } from '../_shared/contract/contract.ts'

/** Describes this worker to the database. */
export type WorkerDescription = {
  /** Counts a result. */
  add(result: Pick<Result, 'outcome'>): void
  /** The facts while the worker holds so many deliveries. */
  facts(inFlight: number): WorkerFacts
}

/** The last minute, as seconds. */
const seconds = 60

/** Describes the worker in the process `pid` of `host`, and counts what it delivers within a minute. */
export function describeWorker(
  { clock, host, pid }: { clock: Pick<Clock, 'now'>; host: string; pid: number },
): WorkerDescription {
  const counts = new Array<number>(seconds).fill(0)
  let sum = 0
  let current = Math.floor(clock.now() / 1_000)

  /** The place of the current second, after those that are over have been emptied. */
  function place(): number {
    const now = Math.floor(clock.now() / 1_000)
    for (let at = Math.max(current, now - seconds) + 1; at <= now; at++) {
      sum -= counts[at % seconds] ?? 0
      counts[at % seconds] = 0
    }
    current = Math.max(current, now)
    return current % seconds
  }

  return {
    add({ outcome }): void {
      if (outcome !== 'delivered') return
      const at = place()
      counts[at] = (counts[at] ?? 0) + 1
      sum++
    },
    facts(inFlight): WorkerFacts {
      place()
      return { host, pid, version, in_flight: inFlight, delivered: sum }
    },
  }
}
