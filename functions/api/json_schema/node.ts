import type { Steps } from '../steps.ts'
import { mapKey } from './map_key.ts'

/** Why a value is invalid, and the path from the checked value to the invalid part. */
export type Mismatch = { path: (string | number)[]; detail: string }

/** The names or indexes that some keyword has evaluated; null if no keyword reads them. */
export type Marks = Set<string | number> | null

/** One keyword, or keywords that belong together, at one value. */
export type Check = (value: unknown, marks: Marks, steps: Steps) => Mismatch | null

/** A compiled schema. References form a graph of nodes, so a node gets its checks after its creation. */
export class Node {
  readonly checks: Check[] = []
  /** Checks that read what all others have evaluated. */
  readonly lastChecks: Check[] = []
  /** The schemas that are applied to the same value. */
  readonly inPlace: Node[] = []
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  /** Why a value is invalid; null if it is valid. Throws TooManySteps. */
  check(value: unknown, marks: Marks, steps: Steps): Mismatch | null {
    steps.enter()
    // A schema sees only what it and its own parts have evaluated.
    const own: Marks = this.lastChecks.length === 0 ? marks : new Set()
    const mismatch = runAll(this.checks, value, own, steps) ??
      runAll(this.lastChecks, value, own, steps)
    steps.leave()
    if (mismatch === null && own !== marks) addMarks(marks, own, steps)
    return mismatch
  }
}

function runAll(checks: Check[], value: unknown, marks: Marks, steps: Steps): Mismatch | null {
  for (const check of checks) {
    steps.take(1)
    const mismatch = check(value, marks, steps)
    if (mismatch !== null) return mismatch
  }
  return null
}

/** Adding to a set costs as much as this number of checks. */
const stepsOfMark = 8

/** Adds a name or an index to `marks`, if a keyword reads them. */
export function addMark(marks: Marks, mark: string | number, steps: Steps): void {
  if (marks === null) return
  steps.take(stepsOfMark)
  marks.add(keyOf(mark))
}

/** Whether `marks` has a name or an index. */
export function hasMark(marks: Marks, mark: string | number): boolean {
  return marks !== null && marks.has(keyOf(mark))
}

/** Indexes are numbers, so that no name is equal to one. */
function keyOf(mark: string | number): string | number {
  return typeof mark === 'string' ? mapKey(mark) : mark
}

/** Adds `more` to `marks`, if a keyword reads them. */
export function addMarks(marks: Marks, more: Marks, steps: Steps): void {
  if (marks === null || more === null) return
  steps.take(stepsOfMark * more.size)
  for (const mark of more) marks.add(mark)
}

/** A mismatch at the value that is checked. */
export function mismatch(detail: string): Mismatch {
  return { path: [], detail }
}

/** The mismatch of a member or an element, seen from its object or array. */
export function within(key: string | number, found: Mismatch): Mismatch {
  found.path.unshift(key)
  return found
}
