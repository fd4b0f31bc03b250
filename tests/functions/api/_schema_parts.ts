/** What the tables of hostile schemas are made of. */

import type { PayloadSchema } from '../../../functions/api/json_schema.ts'

/** A payload of about this many values or characters. */
export type Make = (size: number) => unknown

/** What a schema tries, the schema, and payloads of any size that make it try. */
export type Hostile = [what: string, schema: PayloadSchema, payload: Make]

/** What is wrong with a schema, the schema, and the field and the problem that its error names. */
export type Refused = [what: string, schema: unknown, field: string, problem: RegExp]

export function list(count: number, make: (at: number) => unknown): unknown[] {
  return Array.from({ length: count }, (_, at) => make(at))
}

export function named(count: number, make: (at: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(list(count, (at) => [`p${at}`, make(at)]) as [string, unknown][])
}

export function numbers(size: number): unknown[] {
  return list(size, (at) => at)
}

export function texts(size: number): string[] {
  return list(size, (at) => `v${at}`) as string[]
}

export function members(size: number): Record<string, unknown> {
  return named(size, (at) => at)
}

export function longText(size: number): string {
  return 'a'.repeat(size)
}

export function deep(levels: number, inner: unknown = 1): unknown {
  return levels === 0 ? inner : { a: deep(levels - 1, inner) }
}

/** `inner` wrapped as many times. */
export function nest(
  levels: number,
  inner: unknown,
  wrap: (inner: unknown) => unknown,
): unknown {
  return levels === 0 ? inner : wrap(nest(levels - 1, inner, wrap))
}

/** A chain of schemas in `$defs`, each made with a reference to the next one. */
export function chain(
  count: number,
  make: (next: { $ref: string }) => unknown,
): Record<string, unknown> {
  return {
    $ref: '#/$defs/p0',
    $defs: named(count, (at) => at === count - 1 ? true : make({ $ref: `#/$defs/p${at + 1}` })),
  }
}
