/** Counts what was taken, and says whether one more may be. */
export type Limit = { take(key: string, now: number): boolean }

/** At most `count` in any span of `spanMs`. */
export function slidingLimit(count: number, spanMs: number): Limit {
  const taken = new Map<string, number[]>()
  return {
    take(key, now): boolean {
      const times = taken.get(key) ?? []
      taken.set(key, times)
      while (times.length > 0 && now - (times[0] ?? now) >= spanMs) times.shift()
      if (times.length >= count) return false
      times.push(now)
      return true
    },
  }
}

/**
 * One every `everyMs`, and up to `burst` at once on credit: what a burst took beforehand is waited
 * for afterwards.
 */
export function creditLimit(burst: number, everyMs: number): Limit {
  const paidUntil = new Map<string, number>()
  return {
    take(key, now): boolean {
      const next = Math.max(paidUntil.get(key) ?? now, now) + everyMs
      if (next - now > burst * everyMs) return false
      paidUntil.set(key, next)
      return true
    },
  }
}
