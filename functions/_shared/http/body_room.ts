/** How many bytes of bodies a process may have in memory. */
export type BodyLimits = {
  /** For all bodies of one key, such as an organisation. */
  mostOfKey: number
  mostOfAll: number
}

/** For bodies whose signature is not verified yet, which anybody can send. */
export const unverifiedBodies: BodyLimits = {
  mostOfKey: 16 * 1024 * 1024,
  mostOfAll: 16 * 1024 * 1024,
}

/** What one body holds. */
export type BodyPlace = {
  /** Resolves if the body must be given up because others need the memory; then it holds nothing. */
  readonly isCut: Promise<void>
  /** Counts bytes that have arrived, which may cut other bodies; false: this one is cut. */
  take(bytes: number): boolean
  /** The body has arrived and is not cut any more; false: it was cut before. */
  keep(): boolean
  /** The body is in memory no longer. */
  leave(): void
}

/** Counts the bodies of all requests of a process. */
export type BodyRoom = { enter(key: string): BodyPlace }

/** The memory of an open request, besides its body. */
export const bytesOfRequest = 4096

type Entry = { bytes: number; cut(): void }
type Held = { bytes: number; places: number; arriving: Set<Entry> }

/**
 * Bounds the memory of bodies, because whoever sends many large bodies slowly would otherwise end the
 * process for all. Above a limit, the body that has been arriving for the longest is cut: of the key
 * whose limit it is, or of the key that holds the most. An honest body arrives in less time than one that
 * is sent to hold memory, so it stays.
 */
export function createBodyRoom({ mostOfKey, mostOfAll }: BodyLimits): BodyRoom {
  const keys = new Map<string, Held>()
  let total = 0

  function enter(key: string): BodyPlace {
    const held = keys.get(key) ?? { bytes: 0, places: 0, arriving: new Set() }
    keys.set(key, held)
    held.places++
    const { promise: isCut, resolve: cut } = Promise.withResolvers<void>()
    const entry: Entry = { bytes: 0, cut }
    let isOpen = true
    held.arriving.add(entry)
    take(bytesOfRequest)
    return { isCut, take, keep: () => held.arriving.delete(entry), leave }

    function take(bytes: number): boolean {
      if (!held.arriving.has(entry)) return false
      entry.bytes += bytes
      held.bytes += bytes
      total += bytes
      while (held.bytes > mostOfKey && cutOldest(held));
      while (total > mostOfAll && cutOldest(largest()));
      return held.arriving.has(entry)
    }

    function leave(): void {
      if (!isOpen) return
      isOpen = false
      free(held, entry)
      held.places--
      if (held.places === 0) keys.delete(key)
    }
  }

  /** The key that holds the most of those with bodies that can be cut. */
  function largest(): Held | null {
    let most: Held | null = null
    for (const held of keys.values()) {
      if (held.arriving.size > 0 && held.bytes > (most?.bytes ?? -1)) most = held
    }
    return most
  }

  function cutOldest(held: Held | null): boolean {
    const [oldest] = held?.arriving ?? []
    if (held === null || oldest === undefined) return false
    free(held, oldest)
    oldest.cut()
    return true
  }

  function free(held: Held, entry: Entry): void {
    held.arriving.delete(entry)
    held.bytes -= entry.bytes
    total -= entry.bytes
    entry.bytes = 0
  }

  return { enter }
}
