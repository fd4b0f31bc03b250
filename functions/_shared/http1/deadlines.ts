/** Something that ends by itself at a time on the monotonic clock; the time may be moved. */
export type Expiring = { deadline: number; expire(): void }

/**
 * Watches deadlines with one timer for all: a timer of its own for each request costs 3 to 5 µs.
 */
export type Deadlines = {
  watch(expiring: Expiring): void
  forget(expiring: Expiring): void
  close(): void
}

/** A deadline is met this much late at most. */
const tickMs = 25

/** Makes a watch whose timer runs while there is something to watch. */
export function createDeadlines(): Deadlines {
  const watched = new Set<Expiring>()
  let timer: ReturnType<typeof setInterval> | null = null

  function watch(expiring: Expiring): void {
    watched.add(expiring)
    timer ??= setInterval(tick, tickMs)
  }

  function tick(): void {
    const now = performance.now()
    for (const expiring of watched) if (expiring.deadline <= now) expiring.expire()
    if (watched.size === 0) stop()
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer)
    timer = null
  }

  return { watch, forget: (expiring) => void watched.delete(expiring), close: stop }
}
