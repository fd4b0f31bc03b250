import type { Clock } from '../_shared/base/clock.ts'
import type { Result } from '../_shared/contract/contract.ts'
import type { Log } from '../_shared/base/log.ts'

/** Counts results and logs the counts of each minute that has any. */
export type Tally = { add(result: Result): void; stop(): void }

const minuteMs = 60_000

/** Starts to count. `stop` logs the remaining counts and stops the timer. */
export function startTally(clock: Clock, log: Log): Tally {
  let counts = { delivered: 0, failed: 0, released: 0 }
  let cancel = clock.after(minuteMs, turn)

  function turn(): void {
    flush()
    cancel = clock.after(minuteMs, turn)
  }

  function flush(): void {
    if (counts.delivered + counts.failed + counts.released === 0) return
    log('info', 'delivered within a minute', counts)
    counts = { delivered: 0, failed: 0, released: 0 }
  }

  function stop(): void {
    cancel()
    flush()
  }

  return { add: ({ outcome }) => void counts[outcome]++, stop }
}
