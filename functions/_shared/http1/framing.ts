import { malformed } from './error.ts'
import { listOf, type ResponseHead, trimBlanks } from './head.ts'

/** How the body of a response ends; `close`: with the connection. */
export type Framing = { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'close' }

/** How a response's body ends (RFC 9112 section 6.3). Throws HttpError if the head contradicts itself. */
export function framingOf(head: ResponseHead): Framing {
  const { status, fields } = head
  if (!head.isSound) throw malformed('A header line is invalid')
  if (status < 200 || status === 204 || status === 304) return { kind: 'length', bytes: 0 }
  const codings = listOf(head, 'transfer-encoding')
  const lengths = fields.get('content-length')?.join().split(',').map(trimBlanks)
  if (codings !== null) {
    // A request-smuggling risk: different readers would see different bodies.
    if (lengths !== undefined) throw malformed('Both content-length and transfer-encoding')
    return codings.at(-1) === 'chunked' ? { kind: 'chunked' } : { kind: 'close' }
  }
  if (lengths === undefined) return { kind: 'close' }
  const [bytes = NaN, ...others] = lengths.map(lengthOf)
  if (Number.isNaN(bytes) || others.some((other) => other !== bytes)) {
    throw malformed('The content-length is invalid')
  }
  return { kind: 'length', bytes }
}

function lengthOf(text: string): number {
  return /^0*[0-9]{1,15}$/.test(text) ? Number(text) : NaN
}

/**
 * Whether the peer leaves the connection open after the response: RFC 9112 sections 9.3 and, for
 * transfer-encoding in HTTP/1.0, 6.1.
 */
export function isKept(head: ResponseHead): boolean {
  if (head.minor === 0 && head.fields.has('transfer-encoding')) return false
  const options = listOf(head, 'connection') ?? []
  return !options.includes('close') && (head.minor === 1 || options.includes('keep-alive'))
}

/** How long the peer leaves an unused connection open, in ms (header keep-alive); null: not stated. */
export function keptForMs(head: ResponseHead): number | null {
  const options = listOf(head, 'keep-alive') ?? []
  const [, seconds] = /(?:^|[,; \t])timeout=([0-9]{1,6})/.exec(options.join()) ?? []
  return seconds === undefined ? null : Number(seconds) * 1000
}
