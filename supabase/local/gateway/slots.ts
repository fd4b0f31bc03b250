/** A pool of connection slots with a queue and a timeout. */

/** Resolves with a function that returns the slot, or with null after the timeout. */
export interface Slots {
  take(): Promise<(() => void) | null>
}

/**
 * Creates `size` slots.
 *
 * @param patienceMs How long a call waits for a slot; PostgREST's pool waits 10 s.
 */
export function createSlots(size: number, patienceMs = 10_000): Slots {
  let free = size
  const waiting = new Set<() => void>()

  function release(): void {
    const [next] = waiting
    if (next === undefined) free += 1
    else next()
  }

  return {
    take(): Promise<(() => void) | null> {
      if (free > 0) {
        free -= 1
        return Promise.resolve(release)
      }
      return new Promise((resolve) => {
        function granted(): void {
          clearTimeout(timer)
          waiting.delete(granted)
          resolve(release)
        }
        const timer = setTimeout(() => {
          waiting.delete(granted)
          resolve(null)
        }, patienceMs)
        waiting.add(granted)
      })
    },
  }
}
