import { describeApi } from '../../../functions/api/openapi.ts'
import type { ApiApp } from '../../../functions/api/context.ts'
import type { JsonSchema } from '../../_support/from_schema.ts'
import { type Tenants, victim, visitor } from '../../_support/tenants.ts'
import { type Call, pathWords } from './calls.ts'

type Parameter = { name: string; in: string; schema: JsonSchema }

/** One operation of the API, as its description has it. */
export type Operation = {
  operationId: string
  method: string
  path: string
  parameters: Parameter[]
  body: JsonSchema | null
  /** `secret key` if no token may call it. */
  scope: string
  isOpen: boolean
}

/** One request: which of its words are the victim's, and the expected status. */
export type Shot = {
  operation: Operation
  /** The victim's words; empty for a call with only the caller's own objects. */
  foreign: string[]
  path: string
  headers: Record<string, string>
  body: unknown
  expected: number
  /** The same with the secret key. */
  withKey: number
  /** The victim's things that the request names, which an answer may repeat. */
  given: string[]
}

/** Every operation, and the schemas that its body refers to. */
export function operations(app: ApiApp): { all: Operation[]; schemas: Record<string, JsonSchema> } {
  const document = describeApi(app)
  // SAFETY: the description is plain JSON.
  const paths = JSON.parse(JSON.stringify(document.paths ?? {})) as Record<string, never>
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]): Operation => {
      // SAFETY: every member of a path is an operation here.
      const one = described as {
        operationId: string
        parameters?: Parameter[]
        requestBody?: { content: { 'application/json': { schema: JsonSchema } } }
        security?: unknown[]
        'x-required-scope'?: string
      }
      return {
        operationId: one.operationId,
        method: method.toUpperCase(),
        path,
        parameters: one.parameters ?? [],
        body: one.requestBody?.content['application/json'].schema ?? null,
        scope: one['x-required-scope'] ?? '',
        isOpen: one.security?.length === 0,
      }
    })
  )
  // SAFETY: as above.
  const schemas = (document.components?.schemas ?? {}) as Record<string, JsonSchema>
  return { all, schemas }
}

/** The names of all members that a body may have, at any depth. */
export function memberNames(
  schema: JsonSchema,
  schemas: Record<string, JsonSchema>,
  plain: Set<string>,
): string[] {
  const { $ref, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema
  const below = (one: JsonSchema): string[] => memberNames(one, schemas, plain)
  if ($ref !== undefined) {
    return below(schemas[$ref.replace('#/components/schemas/', '')] ?? {})
  }
  return [
    ...[...anyOf, ...oneOf, ...allOf].flatMap(below),
    ...items === undefined ? [] : below(items),
    ...Object.entries(properties).flatMap(([name, one]) =>
      plain.has(name) ? [] : [name, ...below(one)]
    ),
  ]
}

/**
 * The requests that a call of `me` stands for: with one's own things, and with each combination of these and
 * the victim's.
 */
export function shotsOf(
  operation: Operation,
  call: Call,
  tenants: Tenants,
  me: string = visitor,
): Shot[] {
  const path = operation.path.replace(
    /\{(\w+)\}/g,
    (_, name: string) => call.path?.[name] ?? pathWords[name] ?? `{${name}}`,
  )
  const query = Object.entries(call.query ?? {})
  const words = [
    ...new Set([
      ...JSON.stringify([path, query, call.headers, call.body]).matchAll(/\{([a-z._]+)\}/g),
    ].map(([, word = '']) => word)),
  ]
  return Array.from({ length: 1 << words.length }, (_, combination) => {
    const foreign = words.filter((_, place) => combination >> place & 1)
    const filled = (text: string): string =>
      text.replace(
        /\{(own )?([a-z._]+)\}/g,
        (_, own: string | undefined, word: string) =>
          tenants.thing(own === undefined && foreign.includes(word) ? victim : me, word),
      )
    const fill = (value: unknown): unknown =>
      typeof value === 'string'
        ? filled(value)
        : Array.isArray(value)
        ? value.map(fill)
        : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one)]))
        : value
    const search = query.map(([name, value]) => `${name}=${encodeURIComponent(filled(value))}`)
    return {
      operation,
      foreign,
      path: path.split('/').map((part) => encodeURIComponent(filled(part))).join('/') +
        (search.length === 0 ? '' : `?${search.join('&')}`),
      headers: Object.fromEntries(
        Object.entries(call.headers ?? {}).map(([name, value]) => [name, filled(value)]),
      ),
      body: fill(call.body),
      expected: expectedOf(call, foreign),
      withKey: call.key ?? expectedOf(call, foreign),
      given: words.map((word) => tenants.thing(victim, word)),
    }
  })
}

function expectedOf({ own, foreign = 404 }: Call, words: string[]): number {
  if (words.length === 0) return own
  if (typeof foreign === 'number') return foreign
  // Of several that differ, the one that is refused decides.
  return Math.max(...words.map((word) => foreign[word] ?? 404))
}
