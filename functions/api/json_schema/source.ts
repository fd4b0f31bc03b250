import { ApiError } from '../errors.ts'
import type { Pattern } from '../pattern/pattern.ts'
import type { Node } from './node.ts'

/** A schema that is being compiled: each keyword reads its own members and adds checks to the node. */
export type Source = {
  raw: Readonly<Record<string, unknown>>
  /** Where the schema stands, such as `schema.properties.id`. */
  path: string
  node: Node
  /** The node of a schema within this one, which `path` names. Throws ApiError. */
  part(raw: unknown, path: string): Node
  /** The node of the schema that a reference names. Throws ApiError. */
  reference(text: string, path: string): Node
  /** A pattern. Throws ApiError. */
  pattern(source: unknown, path: string): Pattern
}

/** Throws ApiError for a schema that cannot be used. */
export function refuse(field: string, problem: string, remedy: string): never {
  throw new ApiError('invalid_argument', `${field} ${problem}`, { field, remedy })
}

/** A member that is a finite number, or undefined. Throws ApiError. */
export function readNumber({ raw, path }: Source, name: string): number | undefined {
  const value = raw[name]
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) return value
  refuse(`${path}.${name}`, 'is not a number', 'Expected a number such as 1')
}

/** A member that counts something, or undefined. Throws ApiError. */
export function readCount(source: Source, name: string): number | undefined {
  const value = readNumber(source, name)
  if (value === undefined || (value >= 0 && Number.isInteger(value))) return value
  refuse(`${source.path}.${name}`, `is ${value}`, 'Expected a whole number from 0')
}

/** A member that is a list of texts, or undefined. Throws ApiError. */
export function readNames(value: unknown, path: string): string[] | undefined {
  if (value === undefined || isTextList(value)) return value
  refuse(path, 'is not an array of names', 'Expected something like ["id"]')
}

/** A member that is an object with a schema under each name, as entries. Throws ApiError. */
export function readMap({ raw, path }: Source, name: string): [name: string, item: unknown][] {
  const value = raw[name]
  if (value === undefined) return []
  if (!isObject(value)) refuse(`${path}.${name}`, 'is not an object', 'Expected schemas by name')
  return Object.entries(value)
}

/** The nodes of a member that is a list of schemas, or undefined. Throws ApiError. */
export function readParts(source: Source, name: string): Node[] | undefined {
  const value = source.raw[name]
  if (value === undefined) return undefined
  const path = `${source.path}.${name}`
  if (!Array.isArray(value)) refuse(path, 'is not an array', 'Expected schemas')
  return value.map((item, at) => source.part(item, `${path}.${at}`))
}

/** The node of a member that is a schema, or undefined. Throws ApiError. */
export function readPart(source: Source, name: string): Node | undefined {
  const value = source.raw[name]
  return value === undefined ? undefined : source.part(value, `${source.path}.${name}`)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
