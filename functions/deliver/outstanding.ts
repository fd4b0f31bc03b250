import type { Clock } from '../_shared/base/clock.ts'
import type { RunState } from './state.ts'

export type OutstandingOptions = {
  clock: Clock
  /** Its `outstanding` and `slow` are maintained here. */
  state: RunState
  slowMs: number
  /** Called when deliveries have become slow, which frees their slots. */
  onSlow(): void
}

export type Outstanding = {
  /** Adds `count` deliveries; the returned function removes one of them. */
  add(count: number): () => void
}

/**
 * Counts the deliveries of a run, and the slow ones among them. Slow deliveries use no slots: otherwise
 * a few endpoints that hang would block all slots until their timeouts. The deliveries of one batch
 * become slow together, because one timer for each would cost more than the whole count.
 */
export function createOutstanding(
  { clock, state, slowMs, onSlow }: OutstandingOptions,
): Outstanding {
  function add(count: number): () => void {
    if (count === 0) return () => {}
    let open = count
    let isSlow = false
    state.outstanding += count
    const cancel = clock.after(slowMs, () => {
      isSlow = true
      state.slow += open
      onSlow()
    })

    return function removeOne(): void {
      open--
      state.outstanding--
      if (isSlow) state.slow--
      if (open === 0) cancel()
    }
  }

  return { add }
}
