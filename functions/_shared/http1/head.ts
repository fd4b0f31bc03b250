import { malformed } from './error.ts'

/** The head of a response. Names are in lower case; a repeated field has several values. */
export type ResponseHead = {
  status: number
  /** The x of HTTP/1.x. */
  minor: number
  fields: ReadonlyMap<string, readonly string[]>
}

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/
const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/
// deno-lint-ignore no-control-regex -- control characters are invalid in a value
const unfit = /[\x00-\x08\x0a-\x1f\x7f]/

/**
 * Parses a head (latin1 text without the empty line). Throws HttpError for anything that RFC 9112 does
 * not allow, and for folded lines (section 5.2).
 */
export function parseHead(text: string): ResponseHead {
  const lines = text.split('\r\n')
  const [, minor, status] = statusLine.exec(lines[0] ?? '') ?? []
  if (minor === undefined || status === undefined) throw malformed('The status line is invalid')
  const fields = new Map<string, string[]>()
  for (let i = 1; i < lines.length; i++) {
    const [, field, raw] = fieldLine.exec(lines[i] ?? '') ?? []
    if (field === undefined || raw === undefined || unfit.test(raw)) {
      throw malformed('A header line is invalid')
    }
    const value = raw.trimEnd()
    const lower = field.toLowerCase()
    const known = fields.get(lower)
    if (known === undefined) fields.set(lower, [value])
    else known.push(value)
  }
  return { status: Number(status), minor: Number(minor), fields }
}

/** The first value of a field, or null. */
export function firstValue({ fields }: ResponseHead, name: string): string | null {
  return fields.get(name)?.[0] ?? null
}

export type Framing = { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'close' }

/** How a response's body ends (RFC 9112 section 6.3). Throws HttpError if the head contradicts itself. */
export function framingOf(head: ResponseHead): Framing {
  const { status, fields } = head
  if (status < 200 || status === 204 || status === 304) return { kind: 'length', bytes: 0 }
  const codings = fields.get('transfer-encoding')?.join().toLowerCase().split(',')
  const lengths = fields.get('content-length')?.join().split(',').map((text) => text.trim())
  if (codings !== undefined) {
    // A request-smuggling risk: different readers would see different bodies.
    if (lengths !== undefined) throw malformed('Both content-length and transfer-encoding')
    return codings.at(-1)?.trim() === 'chunked' ? { kind: 'chunked' } : { kind: 'close' }
  }
  if (lengths === undefined) return { kind: 'close' }
  const [length = ''] = lengths
  if (!/^[0-9]{1,15}$/.test(length) || lengths.some((other) => other !== length)) {
    throw malformed('The content-length is invalid')
  }
  return { kind: 'length', bytes: Number(length) }
}

/** Whether the peer leaves the connection open after the response: RFC 9112 section 9.3. */
export function isKept({ minor, fields }: ResponseHead): boolean {
  const options = fields.get('connection')
  if (options === undefined) return minor === 1
  const words = options.join().toLowerCase().split(',').map((word) => word.trim())
  return !words.includes('close') && (minor === 1 || words.includes('keep-alive'))
}

/** How long the peer leaves an unused connection open, in ms (header keep-alive); null: not stated. */
export function keptForMs(head: ResponseHead): number | null {
  const [, seconds] =
    /(?:^|[,;\s])timeout=([0-9]{1,6})/i.exec(firstValue(head, 'keep-alive') ?? '') ??
      []
  return seconds === undefined ? null : Number(seconds) * 1000
}
