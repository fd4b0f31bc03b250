import type { Clock } from '../base/clock.ts'

/** A lookup that took long and then failed. */
export type HungName = {
  error: Error
  /** Whether it was so shortly ago that the next one would fail too. */
  isFresh: boolean
}

/** Names whose servers do not reply, by their last lookup. */
export type HungNames = {
  find(hostname: string): HungName | null
  add(hostname: string, error: Error): void
  forget(hostname: string): void
}

/** How long a lookup that failed is not repeated. */
const freshMs = 30_000
/** How long a name is remembered. */
const rememberedMs = 600_000
const mostNames = 10_000

/** Creates a memory of such names. The next lookup of one may hold a thread for up to a minute again. */
export function createHungNames(clock: Clock): HungNames {
  const names = new Map<string, { at: number; error: Error }>()

  function find(hostname: string): HungName | null {
    const known = names.get(hostname)
    if (known === undefined) return null
    const age = clock.now() - known.at
    return age < rememberedMs ? { error: known.error, isFresh: age < freshMs } : null
  }

  function add(hostname: string, error: Error): void {
    names.delete(hostname)
    names.set(hostname, { at: clock.now(), error })
    const [oldest] = names.keys()
    if (names.size > mostNames && oldest !== undefined) names.delete(oldest)
  }

  return { find, add, forget: (hostname) => void names.delete(hostname) }
}
