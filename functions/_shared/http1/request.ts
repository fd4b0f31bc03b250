import { Buffer } from 'node:buffer'
import { malformed } from './error.ts'

/** A POST request, or a GET without a body. */
export type PostParts = {
  method?: 'GET'
  url: URL
  /** Names and values alternate. */
  headers: readonly string[]
  body: Buffer
}

/** RFC 9110 section 5.6.2: a token. */
const name = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110 section 5.5, ASCII only: no character that ends a line. */
const value = /^[\t\x20-\x7e]*$/

/** Faster for ASCII than Deno's `Buffer.write`, which takes 2 µs. */
const ascii = new TextEncoder()

/** Up to this size, copying the body costs less than a second write. */
const smallBody = 16_384

/**
 * The bytes of a keep-alive request, in one or two pieces. Throws HttpError for a header that a receiver
 * could parse as another one.
 */
export function postBytes({ method, url, headers, body }: PostParts): Buffer[] {
  let head = method === 'GET' ? startLines('GET', url) : startOf(url)
  for (let i = 0; i < headers.length; i += 2) {
    const field = headers[i] ?? ''
    const text = headers[i + 1] ?? ''
    if (!name.test(field) || !value.test(text)) throw malformed('A header is invalid')
    head += `${field}: ${text}\r\n`
  }
  head += method === 'GET' ? '\r\n' : `content-length: ${body.length}\r\n\r\n`
  if (body.length > smallBody) return [Buffer.from(head, 'latin1'), body]
  const bytes = Buffer.allocUnsafe(head.length + body.length)
  ascii.encodeInto(head, bytes)
  body.copy(bytes, head.length)
  return [bytes]
}

/** Cached because the getters of a URL cost 1 µs. */
const starts = new WeakMap<URL, string>()

function startOf(url: URL): string {
  const known = starts.get(url)
  if (known !== undefined) return known
  const start = startLines('POST', url)
  starts.set(url, start)
  return start
}

function startLines(method: 'GET' | 'POST', url: URL): string {
  const path = url.pathname + url.search
  // Without accept-encoding, a server may compress its response.
  return `${method} ${path} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n` +
    'accept-encoding: identity\r\n'
}
