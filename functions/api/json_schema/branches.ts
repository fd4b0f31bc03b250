import type { Steps } from '../steps.ts'
import { addMarks, type Marks, type Mismatch, mismatch, type Node } from './node.ts'
import { readPart, readParts, refuse, type Source } from './source.ts'

const references = ['$ref', '$dynamicRef', '$recursiveRef']

/** References, `allOf`, `anyOf`, `oneOf`, `not` and `if`: schemas for the same value. */
export function addBranchChecks(source: Source): void {
  const { raw, path, node } = source
  for (const name of references) {
    const text = raw[name]
    if (text === undefined) continue
    if (typeof text !== 'string' || !text.startsWith('#')) {
      refuse(`${path}.${name}`, 'is outside of the schema', 'Expected something like #/$defs/item')
    }
    addPlain(source.reference(text, `${path}.${name}`))
  }
  readParts(source, 'allOf')?.forEach(addPlain)
  const any = readParts(source, 'anyOf')
  if (any !== undefined) {
    node.inPlace.push(...any)
    node.checks.push((value, marks, steps) => checkAny(any, value, marks, steps))
  }
  const one = readParts(source, 'oneOf')
  if (one !== undefined) {
    node.inPlace.push(...one)
    node.checks.push((value, marks, steps) => checkOne(one, value, marks, steps))
  }
  const not = readPart(source, 'not')
  if (not !== undefined) {
    node.inPlace.push(not)
    node.checks.push((value, _marks, steps) => {
      return not.check(value, null, steps) === null ? mismatch('Fits the schema in not') : null
    })
  }
  addCondition(source)

  function addPlain(part: Node): void {
    node.inPlace.push(part)
    node.checks.push((value, marks, steps) => part.check(value, marks, steps))
  }
}

function checkAny(parts: Node[], value: unknown, marks: Marks, steps: Steps): Mismatch | null {
  let isFit = false
  for (const part of parts) {
    const own: Marks = marks === null ? null : new Set()
    if (part.check(value, own, steps) !== null) continue
    isFit = true
    // The other schemas may evaluate more members. This matters only if a keyword reads the marks.
    if (marks === null) break
    addMarks(marks, own, steps)
  }
  return isFit ? null : mismatch(`Matches none of the ${parts.length} schemas in anyOf`)
}

function checkOne(parts: Node[], value: unknown, marks: Marks, steps: Steps): Mismatch | null {
  let first = -1
  for (const [at, part] of parts.entries()) {
    const own: Marks = marks === null ? null : new Set()
    if (part.check(value, own, steps) !== null) continue
    if (first >= 0) return mismatch(`Fits both schemas ${first} and ${at} in oneOf`)
    first = at
    addMarks(marks, own, steps)
  }
  return first >= 0 ? null : mismatch(`Matches none of the ${parts.length} schemas in oneOf`)
}

function addCondition(source: Source): void {
  const { node } = source
  const condition = readPart(source, 'if')
  const yes = readPart(source, 'then')
  const no = readPart(source, 'else')
  if (condition === undefined) return
  node.inPlace.push(condition)
  for (const part of [yes, no]) if (part !== undefined) node.inPlace.push(part)
  node.checks.push((value, marks, steps) => {
    const own: Marks = marks === null ? null : new Set()
    const isTrue = condition.check(value, own, steps) === null
    if (isTrue) addMarks(marks, own, steps)
    return (isTrue ? yes : no)?.check(value, marks, steps) ?? null
  })
}
