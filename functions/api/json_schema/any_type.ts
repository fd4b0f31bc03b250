import { canonical } from './canonical.ts'
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

/** A lookup: its cost does not depend on the number of allowed values. */
function equalCheck(values: unknown[]): Check {
  const simple = new Set(values.filter((value) => !isComposite(value)))
  const composite = new Set(values.filter(isComposite).map((value) => canonical(value)))
  const detail = values.length === 1
    ? `Expected ${shown(values[0])}`
    : `Expected one of ${shown(values)}`
  return (value, _marks, steps) => {
    if (typeof value === 'string') steps.takeText(value)
    const isEqual = isComposite(value)
      ? composite.size > 0 && composite.has(canonical(value, steps))
      : simple.has(value)
    return isEqual ? null : mismatch(detail)
  }
}

function isComposite(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
