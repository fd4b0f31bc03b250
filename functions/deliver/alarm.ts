import type { Clock } from '../_shared/base/clock.ts'

/** One sleeper. It wakes at its time or when `ring` is called, whichever comes first. */
export type Alarm = {
  /** Sleeps until `at`; Infinity sleeps until a ring. */
  wait(at: number): Promise<void>
  ring(): void
  /** When the sleeper wakes without a ring; -Infinity if there is no sleeper. */
  readonly wakesAt: number
}

/** Creates an alarm on a clock; all times are in ms on that clock. */
export function createAlarm(clock: Clock): Alarm {
  let wakesAt = -Infinity
  let wake: () => void = () => {}

  function wait(at: number): Promise<void> {
    return new Promise((resolve) => {
      const ms = Math.max(0, at - clock.now())
      const cancel = ms === Infinity ? () => {} : clock.after(ms, () => wake())
      wakesAt = at
      wake = () => {
        wake = () => {}
        wakesAt = -Infinity
        cancel()
        resolve()
      }
    })
  }

  return {
    wait,
    ring: () => wake(),
    get wakesAt() {
      return wakesAt
    },
  }
}
