/** Time as the delivering code sees it; tests pass a clock that they turn by hand. */
export type Clock = {
  /** Milliseconds on a clock that never goes back: leases and deadlines are measured on it. */
  now(): number
  /** Milliseconds since 1970: what signatures and attempts say. */
  wallNow(): number
  /** Calls `run` once, `ms` from now, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void
}

/** The process's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  after: startTimer,
}

function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** Resolves `ms` from now, or as soon as `signal` is aborted. */
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
