/** How many tests ended how. */
export interface Tally {
  passed: number
  failed: number
  skipped: number
}

/** A tally of nothing, or of what is given. */
export function tally(counts: Partial<Tally> = {}): Tally {
  return { passed: 0, failed: 0, skipped: 0, ...counts }
}

/** The sum of two tallies. */
export function add(a: Tally, b: Tally): Tally {
  return {
    passed: a.passed + b.passed,
    failed: a.failed + b.failed,
    skipped: a.skipped + b.skipped,
  }
}

/** `N passed, N failed`, with `, N skipped` when some were: the form that CI reads. */
export function tallyLine(counts: Tally): string {
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`
}

/** 0 when something ran and nothing failed, else 1. */
export function exitCode(counts: Tally): 0 | 1 {
  return counts.failed === 0 && counts.passed > 0 ? 0 : 1
}
