import type { Steps } from '../steps.ts'
import { canonical } from './canonical.ts'
import { mapKey } from './map_key.ts'
import { type Check, mismatch } from './node.ts'
import { shown } from './shown.ts'
import { refuse, type Source } from './source.ts'

const typeNames = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']

/** `type`, `const` and `enum`. */
export function addAnyChecks(source: Source): void {
  const { raw, path, node } = source
  if (raw.type !== undefined) node.checks.push(typeCheck(raw.type, `${path}.type`))
  if (raw.const !== undefined) node.checks.push(equalCheck([raw.const]))
  if (raw.enum === undefined) return
  if (!Array.isArray(raw.enum)) {
    refuse(`${path}.enum`, 'is not an array', 'Expected the values, such as ["paid", "open"]')
  }
  node.checks.push(equalCheck(raw.enum))
}

function typeCheck(type: unknown, path: string): Check {
  const types: unknown[] = Array.isArray(type) ? type : [type]
  if (!types.every((name) => typeof name === 'string' && typeNames.includes(name))) {
    refuse(path, 'is not a type', `Expected one of ${typeNames.join(', ')}`)
  }
  const allowed = new Set(types)
  const detail = `Expected ${types.join(' or ')}`
  return (value) => {
    const actual = typeOf(value)
    if (allowed.has(actual)) return null
    if (allowed.has('integer') && Number.isInteger(value)) return null
    return mismatch(`${detail}, got ${actual}`)
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Decimals are looked up as texts. */
const stepsOfNumber = 4

/** A lookup: its cost does not depend on the number of allowed values. */
function equalCheck(values: unknown[]): Check {
  const isAllowed = values.length === 1 && !isComposite(values[0])
    ? (value: unknown) => value === values[0]
    : lookup(values)
  const detail = values.length === 1
    ? `Expected ${shown(values[0])}`
    : `Expected one of ${shown(values)}`
  return (value, _marks, steps) => {
    if (typeof value === 'string') steps.takeText(value)
    return isAllowed(value, steps) ? null : mismatch(detail)
  }
}

/** Numbers are in a set of texts, because the engine hashes numbers so that chosen ones all collide. */
function lookup(values: unknown[]): (value: unknown, steps: Steps) => boolean {
  const texts = new Set<string>()
  const numbers = new Set<string>()
  const composites = new Set<string>()
  const others = new Set<unknown>()
  for (const value of values) {
    if (typeof value === 'string') texts.add(mapKey(value))
    else if (typeof value === 'number') numbers.add(mapKey(String(value)))
    else if (isComposite(value)) composites.add(canonical(value))
    else others.add(value)
  }
  return (value, steps) => {
    if (typeof value === 'string') return texts.has(mapKey(value))
    if (isComposite(value)) return composites.size > 0 && composites.has(canonical(value, steps))
    if (typeof value !== 'number') return others.has(value)
    steps.take(stepsOfNumber)
    return numbers.has(mapKey(String(value)))
  }
}

function isComposite(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
