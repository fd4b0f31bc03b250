import { findDuplicates, findSharedLeases } from './checks/duplicates.ts'
import {
  findDeaths,
  findMiscounts,
  findStuck,
  findUncounted,
  findUnreasoned,
} from './checks/ends.ts'
import { findInventions, findLosses } from './checks/loss.ts'
import { findDisorder } from './checks/order.ts'
import type { Evidence, Violation } from './evidence.ts'

const checks = [
  findLosses,
  findInventions,
  findDisorder,
  findDuplicates,
  findSharedLeases,
  findUnreasoned,
  findStuck,
  findMiscounts,
  findUncounted,
  findDeaths,
]

/** All broken promises at one look, once nothing should be in flight. It compares only what was seen from outside. */
export function check(evidence: Evidence): Violation[] {
  return checks.flatMap((find) => find(evidence))
}

/** At most `most` lines of them, and how many there are of each kind. */
export function tellViolations(violations: readonly Violation[], most = 20): string {
  const counts = [...Map.groupBy(violations, ({ promise }) => promise)]
    .map(([promise, own]) => `${own.length} ${promise}`)
  // Some of each kind, so that the first kind does not hide the others.
  const each = Math.max(1, Math.floor(most / Math.max(counts.length, 1)))
  const lines = [...Map.groupBy(violations, ({ promise }) => promise).values()]
    .flatMap((own) => own.slice(0, each))
    .map(({ promise, what }) => `  ${promise}: ${what}`)
  return [counts.join(', '), ...lines].join('\n')
}
