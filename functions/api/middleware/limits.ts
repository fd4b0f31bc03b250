import type { MiddlewareHandler } from 'hono'
import type { BodyPlace, BodyRoom } from '../../_shared/http/body_room.ts'
import { readBytes } from '../../_shared/http/read_bytes.ts'
import type { ApiEnv } from '../context.ts'
import { ApiError } from '../errors.ts'
import { checkJsonText } from '../json_text.ts'

/** The limits of a request. */
export type RequestLimits = {
  /** Of bodies for `/events`, which accept many events at once. */
  batchBytes: number
  bodyBytes: number
  /** Names and values together. */
  headerBytes: number
  urlCharacters: number
  /** Levels of nested objects and arrays. */
  depth: number
  /** Until the whole body has arrived. */
  bodyMs: number
}

export const requestLimits: RequestLimits = {
  batchBytes: 4 * 1024 * 1024,
  bodyBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  urlCharacters: 4096,
  depth: 64,
  bodyMs: 10_000,
}

/**
 * How many bytes of bodies a process has in memory for the tokens of one organisation, and for those of
 * all. A body of 4 MiB takes up to ten times as much while it is handled, and a function has 256 MB.
 */
export const tokenBodies = { mostOfKey: 8 * 1024 * 1024, mostOfAll: 32 * 1024 * 1024 }

/** The routes that publish. Another path may end with the name of a type or a saga, such as `events`. */
const eventPath = /^\/api\/v1\/events(?:\/batch)?$/

/** Refuses headers and a URL that are too large, before any other step: 400 or 431. */
export function headLimit(limits: RequestLimits): MiddlewareHandler<ApiEnv> {
  return async function headLimit(c, next): Promise<void> {
    checkHead(c.req.raw, limits)
    await next()
  }
}

/**
 * Reads the body once, so that a handler never waits for a client. Refuses a body that is too large,
 * too late or not JSON: 400, 408, 413 or 415; and 429 if the bodies of the organisation's tokens fill `room`.
 * It runs after authentication, so the body of an unknown caller is never read.
 */
export function bodyLimit(limits: RequestLimits, room: BodyRoom): MiddlewareHandler<ApiEnv> {
  return async function bodyLimit(c, next): Promise<void> {
    const { raw, method, path } = c.req
    if (raw.body === null || method === 'GET' || method === 'HEAD') return await next()
    const { kind, orgId } = c.get('principal')
    // The operator's own requests are not bounded: nobody else has a secret key.
    const place = kind === 'key' ? null : room.enter(orgId)
    try {
      const isEvents = eventPath.test(path)
      const max = isEvents ? limits.batchBytes : limits.bodyBytes
      const body = await readBody(raw, max, limits.bodyMs, place)
      const bytes = new Uint8Array(body)
      const headers = new Headers(raw.headers)
      if (bytes.length > 0) {
        checkMediaType(raw.headers.get('content-type'))
        // Payloads are stored byte for byte.
        checkJsonText(bytes, limits.depth, !isEvents)
        // Later readers of the body do not know all JSON media types.
        headers.set('content-type', 'application/json')
      }
      c.req.raw = new Request(raw.url, { method, headers, body })
      await next()
    } finally {
      place?.leave()
    }
  }
}

function checkHead(request: Request, limits: RequestLimits): void {
  let bytes = 0
  for (const [name, value] of request.headers) bytes += name.length + value.length
  if (bytes > limits.headerBytes) {
    throw new ApiError('headers_too_large', 'The headers are too large', {
      remedy: `Send at most ${limits.headerBytes} bytes of headers`,
    })
  }
  if (request.url.length > limits.urlCharacters) {
    throw new ApiError('invalid_argument', 'The URL is too long', {
      remedy: `Expected at most ${limits.urlCharacters} characters`,
    })
  }
}

const jsonType = /^application\/([a-z0-9.+-]+\+)?json\s*(;|$)/i

function checkMediaType(type: string | null): void {
  if (type !== null && jsonType.test(type)) {
    const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type) ?? []
    if (/^utf-?8$/i.test(charset)) return
    throw new ApiError(
      'unsupported_media_type',
      `The charset ${charset.slice(0, 40)} is not UTF-8`,
      {
        field: 'content-type',
        remedy: 'Send JSON in UTF-8, as RFC 8259 requires, and leave the charset out',
      },
    )
  }
  throw new ApiError('unsupported_media_type', 'The content-type is not JSON', {
    field: 'content-type',
    remedy: 'Send the header content-type: application/json',
  })
}

async function readBody(
  request: Request,
  max: number,
  ms: number,
  place: BodyPlace | null,
): Promise<ArrayBuffer> {
  const read = await readBytes(request, max, ms, place)
  switch (read.kind) {
    case 'whole':
      return read.body
    case 'too_large':
      throw new ApiError('too_large', `The body is larger than ${max} bytes`, {
        remedy: 'Send less at a time',
      })
    case 'late':
      throw new ApiError('request_timeout', `The body did not arrive within ${ms / 1000} s`, {
        headers: { connection: 'close' },
      })
    case 'crowded':
      throw new ApiError('rate_limited', 'Bodies of this organisation take too much memory', {
        remedy: 'Send the request again in 1 s. If you send large bodies, send fewer at once',
        headers: { 'retry-after': '1' },
      })
    case 'broken':
      throw new ApiError('invalid_argument', 'The body ended early', { cause: read.cause })
  }
}
