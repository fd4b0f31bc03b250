/** Pauses that all end when their owner does. */
export type Pauses = {
  /** Resolves after `ms`, Infinity included, or rejects at `end`. */
  pause(ms: number): Promise<void>
  end(): void
}

export function createPauses(): Pauses {
  const stops = new Set<() => void>()

  function pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = ms === Infinity ? undefined : setTimeout(finish, ms)
      stops.add(stop)

      function finish(): void {
        stops.delete(stop)
        resolve()
      }

      function stop(): void {
        clearTimeout(timer)
        reject(new Error('The server closes'))
      }
    })
  }

  function end(): void {
    for (const stop of stops) stop()
    stops.clear()
  }

  return { pause, end }
}
