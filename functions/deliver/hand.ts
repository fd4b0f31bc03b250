import type { Clock } from '../_shared/base/clock.ts'
import type { RunState } from './state.ts'

export type HandOptions = {
  clock: Clock
  /** Its `outstanding` and `slow` are kept here. */
  state: RunState
  slowMs: number
  /** Called when slots have become free because what holds them is slow. */
  onSlow(): void
}

/** The deliveries that a run holds. */
export type Hand = {
  /** Takes so many; the function that it returns puts one of them down. */
  take(count: number): () => void
}

/**
 * Counts what is in hand, and what of it is slow. An endpoint that hangs would else hold its slots
 * until its timeout, and a few of them all the slots there are, while others' deliveries wait.
 * Deliveries of one batch turn slow together, since a timer for each would cost more than the whole
 * count.
 */
export function createHand({ clock, state, slowMs, onSlow }: HandOptions): Hand {
  function take(count: number): () => void {
    if (count === 0) return () => {}
    let open = count
    let isSlow = false
    state.outstanding += count
    const cancel = clock.after(slowMs, () => {
      isSlow = true
      state.slow += open
      onSlow()
    })

    return function putDown(): void {
      open--
      state.outstanding--
      if (isSlow) state.slow--
      if (open === 0) cancel()
    }
  }

  return { take }
}
