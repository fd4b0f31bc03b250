import type { Pattern } from '../pattern/pattern.ts'
import type { Steps } from '../steps.ts'
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
import { shown } from './shown.ts'
import { readCount, readMap, readNames, readPart, type Source } from './source.ts'

type Value = Record<string, unknown>

/** `required`, `minProperties` and `maxProperties`, and the keywords for members. */
export function addObjectChecks(source: Source): void {
  const { raw, path, node } = source
  const required = readNames(raw.required, `${path}.required`)
  if (required !== undefined) {
    const findMissing = missingCheck(required)
    node.checks.push(objectCheck((value, _marks, steps) => findMissing(value, steps)))
  }
  const least = readCount(source, 'minProperties')
  const most = readCount(source, 'maxProperties')
  if (least !== undefined || most !== undefined) {
    node.checks.push(objectCheck((value, _marks, steps) => {
      const { length } = Object.keys(value)
      steps.take(2 * length)
      if (length < (least ?? 0)) return mismatch(`Expected at least ${least} members`)
      return length > (most ?? Infinity) ? mismatch(`Expected at most ${most} members`) : null
    }))
  }
  const names = readPart(source, 'propertyNames')
  if (names !== undefined) {
    node.checks.push(objectCheck((value, _marks, steps) => {
      return findInMembers(value, steps, (name) => names.check(name, null, steps))
    }))
  }
  addMemberChecks(source)
}

/**
 * Finds the first of `names` that is missing. The check takes one step for each name; the texts of the problems
 * are made before, because a name can be long.
 */
export function missingCheck(
  names: string[],
): (value: Value, steps: Steps) => Mismatch | null {
  const needs = names.map((name) => ({ name, detail: `${shown(name)} is missing` }))
  return (value, steps) => {
    for (const { name, detail } of needs) {
      steps.take(1)
      if (!Object.hasOwn(value, name)) return mismatch(detail)
    }
    return null
  }
}

/** A check of objects; other values fit. */
export function objectCheck(
  check: (value: Value, marks: Marks, steps: Steps) => Mismatch | null,
): Check {
  return (value, marks, steps) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    // SAFETY: neither null nor an array.
    return check(value as Value, marks, steps)
  }
}

/** `properties`, `patternProperties`, `additionalProperties` and `unevaluatedProperties`. */
function addMemberChecks(source: Source): void {
  const { path, node } = source
  const named = new Map(
    readMap(source, 'properties').map(([name, raw]) => {
      return [mapKey(name), source.part(raw, `${path}.properties.${name}`)]
    }),
  )
  const matched = readMap(source, 'patternProperties').map(([text, raw]): [Pattern, Node] => {
    const here = `${path}.patternProperties`
    return [source.pattern(text, here), source.part(raw, `${here}.${text}`)]
  })
  const others = readPart(source, 'additionalProperties')
  if (named.size > 0 || matched.length > 0 || others !== undefined) {
    node.checks.push(objectCheck((value, marks, steps) => {
      return findInMembers(value, steps, (name, member) => {
        return checkMember(name, member, marks, steps)
      })
    }))
  }
  const rest = readPart(source, 'unevaluatedProperties')
  if (rest === undefined) return
  node.lastChecks.push(objectCheck((value, marks, steps) => {
    return findInMembers(value, steps, (name, member) => {
      if (hasMark(marks, name)) return null
      addMark(marks, name, steps)
      return rest.check(member, null, steps)
    })
  }))

  function checkMember(name: string, member: unknown, marks: Marks, steps: Steps): Mismatch | null {
    const own = named.get(mapKey(name))
    let isKnown = own !== undefined
    const problem = own?.check(member, null, steps) ?? null
    if (problem !== null) return problem
    for (const [pattern, part] of matched) {
      if (!pattern.test(name, steps)) continue
      isKnown = true
      const found = part.check(member, null, steps)
      if (found !== null) return found
    }
    if (!isKnown && others === undefined) return null
    addMark(marks, name, steps)
    return isKnown ? null : others?.check(member, null, steps) ?? null
  }
}

function findInMembers(
  value: Value,
  steps: Steps,
  find: (name: string, member: unknown) => Mismatch | null,
): Mismatch | null {
  const names = Object.keys(value)
  // For all of them, because listing them costs as much if the first member is invalid.
  steps.take(2 * names.length)
  for (const name of names) {
    const found = find(name, value[name])
    if (found !== null) return within(name, found)
  }
  return null
}
