import { malformed } from './error.ts'

/** The head of an answer. Names are in lower case; a field that came twice has both values. */
export type AnswerHead = {
  status: number
  /** The x of HTTP/1.x. */
  minor: number
  fields: ReadonlyMap<string, readonly string[]>
}

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/
const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*)$/
// deno-lint-ignore no-control-regex -- what may not stand in a value
const unfit = /[\x00-\x08\x0a-\x1f\x7f]/

/**
 * Reads a head without the empty line that ends it, as latin1 text. Throws HttpError where it is
 * not what RFC 9112 allows; lines folded over (section 5.2) are among that.
 */
export function parseHead(text: string): AnswerHead {
  const lines = text.split('\r\n')
  const [, minor, status] = statusLine.exec(lines[0] ?? '') ?? []
  if (minor === undefined || status === undefined) throw malformed('No status line')
  const fields = new Map<string, string[]>()
  for (let i = 1; i < lines.length; i++) {
    const [, field, raw] = fieldLine.exec(lines[i] ?? '') ?? []
    if (field === undefined || raw === undefined || unfit.test(raw)) {
      throw malformed('No header line')
    }
    const value = raw.trimEnd()
    const lower = field.toLowerCase()
    const known = fields.get(lower)
    if (known === undefined) fields.set(lower, [value])
    else known.push(value)
  }
  return { status: Number(status), minor: Number(minor), fields }
}

/** The first value of a field; null when it did not come. */
export function firstValue({ fields }: AnswerHead, name: string): string | null {
  return fields.get(name)?.[0] ?? null
}

/** How the body of an answer ends: RFC 9112 section 6.3. */
export type Framing = { kind: 'length'; bytes: number } | { kind: 'chunked' } | { kind: 'close' }

/** How an answer's body ends. Throws HttpError when the head says two things. */
export function framingOf(head: AnswerHead): Framing {
  const { status, fields } = head
  if (status < 200 || status === 204 || status === 304) return { kind: 'length', bytes: 0 }
  const codings = fields.get('transfer-encoding')?.join().toLowerCase().split(',')
  const lengths = fields.get('content-length')?.join().split(',').map((text) => text.trim())
  if (codings !== undefined) {
    // Whoever reads the one and whoever reads the other see two different answers.
    if (lengths !== undefined) throw malformed('Both a length and a transfer coding')
    return codings.at(-1)?.trim() === 'chunked' ? { kind: 'chunked' } : { kind: 'close' }
  }
  if (lengths === undefined) return { kind: 'close' }
  const [length = ''] = lengths
  if (!/^[0-9]{1,15}$/.test(length) || lengths.some((other) => other !== length)) {
    throw malformed('A length that is none')
  }
  return { kind: 'length', bytes: Number(length) }
}

/** Whether the peer leaves the connection open after an answer: RFC 9112 section 9.3. */
export function isKept({ minor, fields }: AnswerHead): boolean {
  const options = fields.get('connection')
  if (options === undefined) return minor === 1
  const words = options.join().toLowerCase().split(',').map((word) => word.trim())
  return !words.includes('close') && (minor === 1 || words.includes('keep-alive'))
}

/** For how long the peer says that it keeps an unused connection, in ms; null when it says nothing. */
export function keptForMs(head: AnswerHead): number | null {
  const [, seconds] =
    /(?:^|[,;\s])timeout=([0-9]{1,6})/i.exec(firstValue(head, 'keep-alive') ?? '') ??
      []
  return seconds === undefined ? null : Number(seconds) * 1000
}
