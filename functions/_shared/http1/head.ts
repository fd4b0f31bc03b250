import { malformed } from './error.ts'

/** The head of a response. Names are in lower case; a repeated field has several values. */
export type ResponseHead = {
  status: number
  /** The x of HTTP/1.x. */
  minor: number
  /** The fields up to the first invalid line. */
  fields: ReadonlyMap<string, readonly string[]>
  /** Whether all header lines are valid. Otherwise only the status may be used. */
  isSound: boolean
}

const statusLine = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/
const fieldLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/
const foldedLine = /^[ \t]/
// deno-lint-ignore no-control-regex -- control characters are invalid in a value
const unfit = /[\x00-\x08\x0a-\x1f\x7f]/

/**
 * Parses a head (latin1 text without the empty line). Throws HttpError if the status line is invalid. It stops
 * at an invalid header line, because the status alone decides the outcome of a request.
 */
export function parseHead(text: string): ResponseHead {
  const lines = text.split('\r\n')
  const [, minor, status] = statusLine.exec(lines[0] ?? '') ?? []
  if (minor === undefined || status === undefined) throw malformed('The status line is invalid')
  const fields = new Map<string, string[]>()
  const head = { status: Number(status), minor: Number(minor), fields, isSound: true }
  let values: string[] | null = null
  for (let i = 1; i < lines.length && head.isSound; i++) {
    const line = lines[i] ?? ''
    if (foldedLine.test(line) && values !== null && isFit(line)) unfold(values, line)
    else values = addField(fields, line)
    head.isSound = values !== null
  }
  return head
}

/** Adds the field of a line and returns its values; null: the line is invalid. */
function addField(fields: Map<string, string[]>, line: string): string[] | null {
  const [, name, raw] = fieldLine.exec(line) ?? []
  if (name === undefined || raw === undefined || !isFit(raw)) return null
  const lower = name.toLowerCase()
  const values = fields.get(lower) ?? []
  values.push(trimBlanks(raw))
  if (values.length === 1) fields.set(lower, values)
  return values
}

/** RFC 9112 section 5.2: a line that continues the one before it; the line break becomes a space. */
function unfold(values: string[], line: string): void {
  const more = trimBlanks(line)
  const before = values.pop() ?? ''
  values.push(before === '' || more === '' ? before + more : `${before} ${more}`)
}

/** Whether the text has no control characters, such as NUL or a single CR. */
export function isFit(text: string): boolean {
  return !unfit.test(text)
}

/** Whether the line is a header field; for trailers, which nobody reads. */
export function isField(line: string): boolean {
  return fieldLine.test(line) && isFit(line)
}

/** Without the spaces and tabs at both ends. `trim()` also removes characters that HTTP does not call blank. */
export function trimBlanks(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** The first value of a field, or null. */
export function firstValue({ fields }: ResponseHead, name: string): string | null {
  return fields.get(name)?.[0] ?? null
}

/** The elements of a list field in lower case, of all its lines; null: there is no such field. */
export function listOf({ fields }: ResponseHead, name: string): string[] | null {
  const values = fields.get(name)
  if (values === undefined) return null
  return values.join().toLowerCase().split(',').map(trimBlanks).filter((word) => word !== '')
}
