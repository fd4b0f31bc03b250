/** How many late records of one endpoint a client may hold. */
export const mostLate = 64

/** The records that a broker has not confirmed yet, by endpoint. */
export type Unanswered = {
  /**
   * Adds a record; the returned function removes it. Null: too many records of the endpoint are late, so no
   * further one may be sent.
   */
  add(endpointId: string, isLate: () => boolean): (() => void) | null
  /** Waits until a record may be added, at most `waitMs`. */
  room(endpointId: string): Promise<void>
}

type Records = {
  lateness: Set<() => boolean>
  /** Called when one is removed. */
  waiting: Set<() => void>
}

/**
 * Creates it without records. A delivery that is late has failed and frees its slot, but the client of the
 * broker holds its record until the broker responds or the client gives up. So without a limit, one broker that
 * accepts records and never responds would fill the memory of the run.
 */
export function createUnanswered({ most = mostLate, waitMs = 1_000 } = {}): Unanswered {
  const byEndpoint = new Map<string, Records>()

  function isFull(endpointId: string): boolean {
    const lateness = byEndpoint.get(endpointId)?.lateness ?? new Set()
    return lateness.size >= most && [...lateness].filter((late) => late()).length >= most
  }

  function add(endpointId: string, isLate: () => boolean): (() => void) | null {
    if (isFull(endpointId)) return null
    const records = byEndpoint.get(endpointId) ?? { lateness: new Set(), waiting: new Set() }
    // Its own function, because two deliveries may share one.
    const record = (): boolean => isLate()
    records.lateness.add(record)
    byEndpoint.set(endpointId, records)
    return function remove(): void {
      records.lateness.delete(record)
      if (records.lateness.size === 0) byEndpoint.delete(endpointId)
      for (const goOn of [...records.waiting]) goOn()
    }
  }

  async function room(endpointId: string): Promise<void> {
    if (isFull(endpointId)) {
      await removal(byEndpoint.get(endpointId)?.waiting ?? new Set(), waitMs)
    }
  }

  return { add, room }
}

function removal(waiting: Set<() => void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(goOn, ms)
    waiting.add(goOn)

    function goOn(): void {
      waiting.delete(goOn)
      clearTimeout(timer)
      resolve()
    }
  })
}
