/** Counts what was taken, and says whether one more may be. */
export type Limit = { take(key: string, now: number): boolean }

/**
 * One every `everyMs`, and up to `burst` at once on credit: what a burst took beforehand is waited
 * for afterwards.
 */
export function creditLimit(burst: number, everyMs: number): Limit {
  const paidUntil = new Map<string, number>()
  return {
    take(key, now): boolean {
      const from = Math.max(paidUntil.get(key) ?? now, now)
      if (from - now > (burst - 1) * everyMs) return false
      paidUntil.set(key, from + everyMs)
      return true
    },
  }
}
