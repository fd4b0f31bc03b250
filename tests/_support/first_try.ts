import type { Behaviour } from '../e2e/receiver/behaviours.ts'

/** What becomes of the first try of an event while its receiver works; later attempts get 200 at once. */
export interface FirstTry {
  /** The receiver's part. */
  readonly behaviour: Behaviour
  /** What happens before the answer of the first try; nothing unless a test sets it. */
  act: () => Promise<void> | void
}

export function createFirstTry(): FirstTry {
  const first: FirstTry = {
    act: () => {},
    async behaviour({ seenBefore, answer }): Promise<void> {
      if (seenBefore === 0) await first.act()
      await answer(200)
    },
  }
  return first
}

/** Retries at once, so that a test need not wait for a schedule. */
export const retryAtOnce = { strategy: 'fixed', base_delay: 0, jitter: false } as const

/**
 * A lease of 7.5 s, the timeout and 5 s, after which the retry is at once. A shorter timeout would end
 * attempts on a busy machine.
 */
export const shortLease = { p_timeout_ms: 2_500, p_retry: retryAtOnce } as const
