/** Creates the HTTP response that PostgREST would return for the row of a call. */
import { httpStatus, RestFailure } from './failure.ts'
import type { Routine } from './catalog.ts'

/** The caller's options for the response. */
export interface ResponseOptions {
  /** `Accept: application/vnd.pgrst.object+json`: exactly one row, as an object. */
  single: boolean
  /** `Prefer: return=minimal`. */
  minimal: boolean
  /** HEAD: no body. */
  head: boolean
  /** The applied preferences, for `Preference-Applied`. */
  applied: string[]
}

/** The columns of the call's row, as text. */
export interface CallRow {
  body: Uint8Array<ArrayBuffer> | null
  count: number
  total: number | null
  status: string | null
  headers: string | null
}

const MEDIA_TYPES: Readonly<Record<string, 'many' | 'single'>> = {
  '': 'many',
  '*/*': 'many',
  'application/*': 'many',
  'application/json': 'many',
  'application/vnd.pgrst.array+json': 'many',
  'application/vnd.pgrst.object+json': 'single',
  'application/vnd.pgrst.object': 'single',
}

/** Statuses without a body. */
const EMPTY_STATUSES = new Set([204, 205, 304])

/** Reads the Accept header: the first known media type counts. */
export function readAccept(accept: string): 'many' | 'single' | RestFailure {
  const types = accept.split(',').map((each) => each.split(';')[0]?.trim().toLowerCase() ?? '')
  const known = types.find((type) => MEDIA_TYPES[type] !== undefined)
  const wanted = MEDIA_TYPES[known ?? 'none']
  return wanted ??
    new RestFailure(
      406,
      'PGRST107',
      `None of these media types are available: ${types.join(', ')}`,
    )
}

/** The failure if the rows do not satisfy `Accept: application/vnd.pgrst.object+json`; null if they do. */
export function singleFailure(row: CallRow): RestFailure | null {
  return row.count === 1 ? null : new RestFailure(
    406,
    'PGRST116',
    'Cannot coerce the result to a single JSON object',
    `The result contains ${row.count} rows`,
  )
}

/** Creates the response of a successful call. */
export function writeResponse(
  row: CallRow,
  routine: Routine,
  options: ResponseOptions,
): Response | RestFailure {
  const status = row.status === null ? null : httpStatus(Number(row.status))
  if (row.status !== null && status === null) {
    return gucFailure('PGRST112', 'response.status GUC must be a valid status code')
  }
  const overrides = readHeaders(row.headers)
  if (overrides === null) {
    return gucFailure(
      'PGRST111',
      'response.headers GUC must be a JSON array composed of objects with a single key and a ' +
        'string value',
    )
  }
  const empty = routine.void || options.minimal
  const ownStatus = empty ? 204 : row.total !== null && row.count < row.total ? 206 : 200
  const headers = ownHeaders(row, options, empty)
  for (const [name] of overrides) headers.delete(name)
  for (const [name, value] of overrides) headers.append(name, value)
  const final = status ?? ownStatus
  const body = empty || options.head || EMPTY_STATUSES.has(final) ? null : row.body
  return new Response(body, { status: final, headers })
}

function ownHeaders({ count, total }: CallRow, options: ResponseOptions, empty: boolean): Headers {
  const headers = new Headers()
  const range = count === 0 ? '*' : `0-${count - 1}`
  headers.set('content-range', `${range}/${options.applied.includes('count=exact') ? total : '*'}`)
  if (!empty) {
    const type = options.single ? 'application/vnd.pgrst.object+json' : 'application/json'
    headers.set('content-type', `${type}; charset=utf-8`)
  }
  if (options.applied.length > 0) headers.set('preference-applied', options.applied.join(', '))
  return headers
}

function readHeaders(text: string | null): [string, string][] | null {
  if (text === null) return []
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!Array.isArray(value)) return null
  const headers: [string, string][] = []
  for (const each of value) {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return null
    const [entry, ...more] = Object.entries(each)
    if (entry === undefined || more.length > 0 || typeof entry[1] !== 'string') return null
    headers.push([entry[0], entry[1]])
  }
  return headers
}

function gucFailure(code: string, message: string): RestFailure {
  return new RestFailure(500, code, message)
}
