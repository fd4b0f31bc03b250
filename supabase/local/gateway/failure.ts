/**
 * PostgREST's responses to failed calls: one body shape, one status table. The table is PostgREST's own
 * (`pgErrorStatus`), row by row, because clients depend on it.
 */

/** A failure as a value, which is returned like any other result. */
export class RestFailure {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly message: string,
    readonly details: string | null = null,
    readonly hint: string | null = null,
    readonly headers: Record<string, string> = {},
  ) {}

  /** The HTTP response, with the error's code also in `Proxy-Status`. */
  toResponse(): Response {
    const { code, details, hint, message } = this
    return new Response(JSON.stringify({ code, details, hint, message }), {
      status: this.status,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'proxy-status': `PostgREST; error=${code}`,
        ...this.headers,
      },
    })
  }
}

/** The fields of a Postgres error that a caller receives. */
export interface DatabaseError {
  code: string
  message: string
  detail?: string | undefined
  hint?: string | undefined
}

/** SQLSTATE or its class (two characters) → HTTP status; the longer entry counts. */
const STATUS_BY_SQLSTATE: Readonly<Record<string, number>> = {
  '08': 503,
  '09': 500,
  '0L': 403,
  '0P': 403,
  '21000': 500,
  '23503': 409,
  '23505': 409,
  '25': 500,
  '25006': 405,
  '28': 403,
  '2D': 500,
  '38': 500,
  '39': 500,
  '3B': 500,
  '40': 500,
  '42883': 404,
  '42P01': 404,
  '42P17': 500,
  '53': 503,
  '53400': 500,
  '54': 500,
  '55': 500,
  '57': 500,
  '57P01': 503,
  '58': 500,
  F0: 500,
  HV: 500,
  P0: 500,
  P0001: 400,
  XX: 500,
}

/**
 * Translates a Postgres error.
 *
 * @param anonymous Whether the call ran as `anon`: a missing right is then 401, otherwise 403.
 */
export function databaseFailure(error: DatabaseError, anonymous: boolean): RestFailure {
  if (error.code === 'PGRST') return raisedFailure(error)
  const status = statusOf(error, anonymous)
  return new RestFailure(
    status,
    error.code,
    error.message,
    error.detail ?? null,
    error.hint ?? null,
    status === 401 ? { 'www-authenticate': 'Bearer' } : {},
  )
}

function statusOf({ code, message }: DatabaseError, anonymous: boolean): number {
  if (code === '42501') return anonymous ? 401 : 403
  if (code === '21000' && message.endsWith('requires a WHERE clause')) return 400
  if (code === '22023' && /^role .* does not exist$/.test(message)) return 401
  if (code.startsWith('PT')) return httpStatus(Number(code.slice(2))) ?? 500
  return STATUS_BY_SQLSTATE[code] ?? STATUS_BY_SQLSTATE[code.slice(0, 2)] ?? 400
}

/** The number if it is a valid status of an HTTP response, else null. */
export function httpStatus(status: number): number | null {
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : null
}

const RAISE_HINTS = {
  MESSAGE: 'MESSAGE must be a JSON object with obligatory keys: "code", "message" and optional ' +
    'keys: "details", "hint".',
  DETAIL: 'DETAIL must be a JSON object with obligatory keys: "status", "headers" and optional ' +
    'key: "status_text".',
}

/** `raise sqlstate 'PGRST'`: the function sets the whole response, in two JSON texts. */
function raisedFailure(error: DatabaseError): RestFailure {
  const body = parseObject(error.message)
  if (typeof body?.code !== 'string' || typeof body.message !== 'string') {
    return malformedRaise('MESSAGE', `Invalid JSON value for MESSAGE: '${error.message}'`)
  }
  if (error.detail === undefined) {
    return malformedRaise('DETAIL', 'DETAIL is missing in the RAISE statement')
  }
  const detail = parseObject(error.detail)
  const status = httpStatus(Number(detail?.status))
  const headers = toTexts(detail?.headers)
  if (status === null || headers === null) {
    return malformedRaise('DETAIL', `Invalid JSON value for DETAIL: '${error.detail}'`)
  }
  return new RestFailure(
    status,
    body.code,
    body.message,
    textOrNull(body.details),
    textOrNull(body.hint),
    headers,
  )
}

function malformedRaise(part: 'MESSAGE' | 'DETAIL', details: string): RestFailure {
  const message = `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`
  return new RestFailure(500, 'PGRST121', message, details, RAISE_HINTS[part])
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    // SAFETY: an object from JSON.parse that is not an array has string keys.
    return isObject(value) ? value as Record<string, unknown> : null
  } catch {
    return null
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function toTexts(value: unknown): Record<string, string> | null {
  if (!isObject(value)) return null
  const texts: Record<string, string> = {}
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') return null
    texts[name] = text
  }
  return texts
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
