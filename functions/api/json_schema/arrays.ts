import type { Steps } from '../steps.ts'
import { canonical } from './canonical.ts'
import { mapKey } from './map_key.ts'
import {
  addMark,
  type Check,
  hasMark,
  type Marks,
  type Mismatch,
  mismatch,
  type Node,
  within,
} from './node.ts'
import { readCount, readPart, readParts, refuse, type Source } from './source.ts'

/** `minItems`, `maxItems` and `uniqueItems`, and the keywords for elements. */
export function addArrayChecks(source: Source): void {
  const { raw, path, node } = source
  const least = readCount(source, 'minItems')
  if (least !== undefined) {
    node.checks.push(arrayCheck(({ length }) => {
      return length < least ? mismatch(`Expected at least ${least} elements`) : null
    }))
  }
  const most = readCount(source, 'maxItems')
  if (most !== undefined) {
    node.checks.push(arrayCheck(({ length }) => {
      return length > most ? mismatch(`Expected at most ${most} elements`) : null
    }))
  }
  if (raw.uniqueItems !== undefined && typeof raw.uniqueItems !== 'boolean') {
    refuse(`${path}.uniqueItems`, 'is not true or false', 'Expected true or false')
  }
  addElementChecks(source)
  addContains(source)
  if (raw.uniqueItems === true) node.checks.push(arrayCheck(findRepeat))
  const rest = readPart(source, 'unevaluatedItems')
  if (rest !== undefined) {
    node.lastChecks.push(arrayCheck((value, marks, steps) => {
      return findInElements(value, steps, (item, at) => {
        if (hasMark(marks, at)) return null
        addMark(marks, at, steps)
        return rest.check(item, null, steps)
      })
    }))
  }
}

/** `prefixItems` and `items`. */
function addElementChecks(source: Source): void {
  const first = readParts(source, 'prefixItems') ?? []
  const others = readPart(source, 'items')
  if (first.length === 0 && others === undefined) return
  source.node.checks.push(arrayCheck((value, marks, steps) => {
    return findInElements(value, steps, (item, at) => {
      const part = first[at] ?? others
      if (part === undefined) return null
      addMark(marks, at, steps)
      return part.check(item, null, steps)
    })
  }))
}

/** `contains` with `minContains` and `maxContains`. */
function addContains(source: Source): void {
  const part = readPart(source, 'contains')
  const least = readCount(source, 'minContains') ?? 1
  const most = readCount(source, 'maxContains') ?? Infinity
  if (part === undefined) return
  source.node.checks.push(arrayCheck((value, marks, steps) => {
    const count = countFitting(part, value, marks, steps)
    if (count < least) {
      return mismatch(`Expected at least ${least} elements that fit contains, got ${count}`)
    }
    if (count <= most) return null
    return mismatch(`Expected at most ${most} elements that fit contains, got ${count}`)
  }))
}

function countFitting(part: Node, value: unknown[], marks: Marks, steps: Steps): number {
  let count = 0
  value.forEach((item, at) => {
    steps.take(1)
    if (part.check(item, null, steps) !== null) return
    addMark(marks, at, steps)
    count++
  })
  return count
}

/** The engine hashes longer texts by their length alone, so those of one length are all compared. */
const longestHashed = 16_000

function findRepeat(value: unknown[], _marks: Marks, steps: Steps): Mismatch | null {
  const places = new Map<string, number>()
  const long = new Map<number, number>()
  for (const [at, item] of value.entries()) {
    const key = mapKey(canonical(item, steps))
    if (key.length > longestHashed) {
      const others = long.get(key.length) ?? 0
      steps.take(others * (key.length >> 5))
      long.set(key.length, others + 1)
    }
    const before = places.get(key)
    if (before !== undefined) return mismatch(`The elements ${before} and ${at} are equal`)
    places.set(key, at)
  }
  return null
}

/** A check of arrays; other values fit. */
function arrayCheck(
  check: (value: unknown[], marks: Marks, steps: Steps) => Mismatch | null,
): Check {
  return (value, marks, steps) => Array.isArray(value) ? check(value, marks, steps) : null
}

function findInElements(
  value: unknown[],
  steps: Steps,
  find: (item: unknown, at: number) => Mismatch | null,
): Mismatch | null {
  for (let at = 0; at < value.length; at++) {
    steps.take(1)
    const found = find(value[at], at)
    if (found !== null) return within(at, found)
  }
  return null
}
