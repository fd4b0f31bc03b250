/** Time for the delivering code; tests pass a clock that they advance. */
export type Clock = {
  /** Milliseconds on a monotonic clock, for leases and deadlines. */
  now(): number
  /** Milliseconds since 1970, for signatures and records. */
  wallNow(): number
  /** Calls `run` once after `ms`, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void
}

export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  after: startTimer,
}

function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** Resolves after `ms`, or when `signal` is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const cancel = clock.after(ms, wake)
    signal?.addEventListener('abort', wake)

    function wake(): void {
      cancel()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
  })
}
