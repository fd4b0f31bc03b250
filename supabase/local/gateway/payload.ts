/**
 * The values of a call as the caller wrote them. JSON is parsed only for its keys and passed to Postgres as
 * text, so numbers beyond 2^53 and the order of keys stay exact.
 */
import { RestFailure } from './failure.ts'

export type Payload =
  & { keys: string[]; wholeTypes: string[] }
  & (
    /** A JSON text; the first element of an array counts. */
    | { kind: 'json'; text: string; array: boolean }
    /** Query or form fields; a repeated one is for a variadic parameter. */
    | { kind: 'fields'; fields: Map<string, string[]> }
    /** A body for the one unnamed parameter. */
    | { kind: 'raw'; text: string }
  )

/** PostgREST's query parameters that shape a result; the local stack refuses them. */
const RESULT_PARAMETERS = new Set([
  'select',
  'order',
  'limit',
  'offset',
  'columns',
  'and',
  'or',
  'not.and',
  'not.or',
  'on_conflict',
])

const RAW_TYPES: Readonly<Record<string, string>> = {
  'text/plain': 'text',
  'text/xml': 'xml',
  'application/octet-stream': 'bytea',
}

/** Reads the values of a call from its query (GET, HEAD) or its body (POST). */
export async function readPayload(request: Request): Promise<Payload | RestFailure> {
  const query = new URL(request.url).searchParams
  const shaping = [...query.keys()].find((name) => RESULT_PARAMETERS.has(name))
  if (shaping !== undefined) {
    return new RestFailure(
      501,
      'LOCAL501',
      `The local stack does not emulate the query parameter "${shaping}"`,
      null,
      'Shape the result inside the function, or run `supabase start`.',
    )
  }
  if (request.method !== 'POST') return fieldsPayload(query, [])
  const type = (request.headers.get('content-type') ?? 'application/json').split(';')[0] ?? ''
  return bodyPayload(type.trim().toLowerCase(), new Uint8Array(await request.arrayBuffer()))
}

function bodyPayload(type: string, bytes: Uint8Array<ArrayBuffer>): Payload | RestFailure {
  if (type === 'application/octet-stream') {
    return { kind: 'raw', keys: [], wholeTypes: ['bytea'], text: `\\x${bytes.toHex()}` }
  }
  const text = decode(bytes)
  if (text === null) return invalidBody('Empty or invalid json')
  const rawType = RAW_TYPES[type]
  if (rawType !== undefined) return { kind: 'raw', keys: [], wholeTypes: [rawType], text }
  if (type === 'application/x-www-form-urlencoded') {
    return fieldsPayload(new URLSearchParams(text), [])
  }
  if (type !== 'application/json') return invalidBody(`Content-Type not acceptable: ${type}`)
  return jsonPayload(text === '' ? '{}' : text)
}

function jsonPayload(text: string): Payload | RestFailure {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return invalidBody('Empty or invalid json')
  }
  const wholeTypes = ['json', 'jsonb']
  if (isObject(value)) {
    return { kind: 'json', keys: Object.keys(value), wholeTypes, text, array: false }
  }
  const [first, ...others]: unknown[] = Array.isArray(value) ? value : []
  // PostgREST reads a bare number, string or null as an empty array.
  if (first === undefined) return { kind: 'json', keys: [], wholeTypes, text: '[]', array: true }
  if (!isObject(first) || !others.every((each) => isObject(each) && sameKeys(each, first))) {
    return invalidBody('All object keys must match')
  }
  return { kind: 'json', keys: Object.keys(first), wholeTypes, text, array: true }
}

function fieldsPayload(query: URLSearchParams, wholeTypes: string[]): Payload {
  const fields = new Map<string, string[]>()
  for (const [name, value] of query) {
    const values = fields.get(name)
    if (values === undefined) fields.set(name, [value])
    else values.push(value)
  }
  return { kind: 'fields', keys: [...fields.keys()], wholeTypes, fields }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sameKeys(some: object, others: object): boolean {
  const keys = Object.keys(some)
  return keys.length === Object.keys(others).length && keys.every((key) => key in others)
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

function invalidBody(message: string): RestFailure {
  return new RestFailure(400, 'PGRST102', message)
}
