import { dereference, type Schema, validate } from '@cfworker/json-schema'
import isSafe from 'safe-regex2'
import { ApiError } from './errors.ts'
import { messageOf } from '../_shared/base/errors.ts'

/** JSON Schema 2020-12; references only within the schema. */
export type PayloadSchema = Record<string, unknown> | boolean

const mostDepth = 32
const mostCharacters = 65_536
/** The most references followed for one payload: a few that fork each other would take years. */
const mostReferences = 100_000

/** Throws ApiError for a schema that cannot check payloads. */
export function checkSchema(schema: PayloadSchema): void {
  if (JSON.stringify(schema).length > mostCharacters) {
    refuse('schema', `has more than ${mostCharacters} characters`, 'Leave out descriptions')
  }
  checkPart(schema, 'schema', 0)
  checkPatterns(schema, 'schema')
  const problem = findMismatch(schema, {})
  if (problem !== null && problem.kind === 'schema') {
    refuse(
      'schema',
      `cannot be applied: ${problem.detail}`,
      'References must name parts of the schema',
    )
  }
}

/** Why a payload is invalid, or why its schema cannot be applied; null if it is valid. */
export function findMismatch(
  schema: PayloadSchema,
  payload: unknown,
): { kind: 'payload' | 'schema'; path: string; detail: string } | null {
  try {
    // SAFETY: checkSchema() has checked the structure; the validator ignores the rest.
    const form = schema as Schema | boolean
    const lookup = counted(dereference(form))
    const { valid, errors } = validate(payload, form, '2020-12', lookup)
    if (valid) return null
    const last = errors.at(-1)
    const path = last?.instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.') ?? ''
    return { kind: 'payload', path, detail: last?.error ?? 'No value fits' }
  } catch (error) {
    // A reference that does not resolve, a cycle of references, or too many of them.
    const detail = messageOf(error).split('\n')[0] ?? ''
    return { kind: 'schema', path: '', detail }
  }
}

/** A table of schemas by reference that throws after too many reads. */
function counted(lookup: Record<string, Schema | boolean>): Record<string, Schema | boolean> {
  let left = mostReferences
  return new Proxy(lookup, {
    get(target, name): unknown {
      if (left-- === 0) throw new Error(`it follows more than ${mostReferences} references`)
      return Reflect.get(target, name)
    },
  })
}

const typeNames = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string']
const schemaMembers = [
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]
const schemaLists = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const schemaMaps = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']

function checkPart(part: unknown, path: string, depth: number): void {
  if (typeof part === 'boolean') return
  if (!isObject(part)) refuse(path, 'is not a schema', 'Expected an object, true or false')
  if (depth > mostDepth) refuse(path, `is nested more than ${mostDepth} deep`, 'Use $defs and $ref')
  const { $ref: reference, type, required } = part
  if (reference !== undefined && !(typeof reference === 'string' && reference.startsWith('#'))) {
    refuse(`${path}.$ref`, 'is outside of the schema', 'Expected something like #/$defs/item')
  }
  const types = Array.isArray(type) ? type : [type ?? 'object']
  if (!types.every((name) => typeNames.includes(name))) {
    refuse(`${path}.type`, 'is not a type', `Expected one of ${typeNames.join(', ')}`)
  }
  if (required !== undefined && !isTextList(required)) {
    refuse(`${path}.required`, 'is not an array of names', 'Expected something like ["id"]')
  }
  for (const name of schemaMembers) {
    if (part[name] !== undefined) checkPart(part[name], `${path}.${name}`, depth + 1)
  }
  for (const name of schemaLists) {
    const list = part[name]
    if (list === undefined) continue
    if (!Array.isArray(list)) refuse(`${path}.${name}`, 'is not an array', 'Expected schemas')
    list.forEach((item, at) => checkPart(item, `${path}.${name}.${at}`, depth + 1))
  }
  for (const name of schemaMaps) {
    const map = part[name]
    if (map === undefined) continue
    if (!isObject(map)) refuse(`${path}.${name}`, 'is not an object', 'Expected schemas by name')
    for (const [key, item] of Object.entries(map)) {
      checkPart(item, `${path}.${name}.${key}`, depth + 1)
    }
  }
}

/** Checks every member, because a reference can use a value under any name as a schema. */
function checkPatterns(part: unknown, path: string): void {
  if (typeof part !== 'object' || part === null) return
  for (const [name, value] of Object.entries(part)) {
    const here = `${path}.${name}`
    if (name === 'pattern' && typeof value !== 'object') checkPattern(value, here)
    if (name === 'patternProperties' && isObject(value)) {
      for (const pattern of Object.keys(value)) checkPattern(pattern, here)
    }
    checkPatterns(value, here)
  }
}

/** Patterns run over all published payloads: one that backtracks catastrophically would block everybody. */
function checkPattern(pattern: unknown, path: string): void {
  try {
    if (
      typeof pattern === 'string' && pattern.length <= 500 && isSafe(new RegExp(pattern, 'u')) &&
      !repeatedChoice.test(pattern)
    ) return
  } catch {
    // The pattern does not compile: refused below.
  }
  refuse(
    path,
    'is not a regular expression that is safe to run',
    'Avoid repeats of repeats and of alternatives',
  )
}

/** A repeated group with alternatives, or with groups that may have them: `(a|a)*`. */
const repeatedChoice = /\|[^]*\)(?:[*+]|\{)/

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function refuse(field: string, problem: string, remedy: string): never {
  throw new ApiError('invalid_argument', `${field} ${problem}`, { field, remedy })
}
