/**
 * Finds the positions of members and elements in a JSON text. A payload is stored byte for byte, and
 * values like 1.10 and 1e400 would not survive JSON.parse.
 */

/** A part of a text from `start` (included) to `end` (excluded). */
export type Span = { start: number; end: number }

/** An object has a member twice: parsers disagree about which value counts. */
export class DuplicateName extends Error {
  readonly member: string

  constructor(member: string) {
    super(`${member} occurs twice`)
    this.name = 'DuplicateName'
    this.member = member
  }
}

/** The members of the object at `at`. The text must be valid JSON. Throws DuplicateName. */
export function findMembers(text: string, at = 0): Map<string, Span> {
  const members = new Map<string, Span>()
  let next = skipSpace(text, skipSpace(text, at) + 1)
  while (text[next] === '"') {
    const nameEnd = skipString(text, next)
    // SAFETY: a string of a JSON text parses to a string.
    const name = JSON.parse(text.slice(next, nameEnd)) as string
    if (members.has(name)) throw new DuplicateName(name)
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const end = skipValue(text, start)
    members.set(name, { start, end })
    next = skipSeparator(text, end)
  }
  return members
}

/** The elements of the array at `at`. The text must be valid JSON. */
export function findElements(text: string, at = 0): Span[] {
  const elements: Span[] = []
  let start = skipSpace(text, skipSpace(text, at) + 1)
  while (start < text.length && text[start] !== ']') {
    const end = skipValue(text, start)
    elements.push({ start, end })
    start = skipSeparator(text, end)
  }
  return elements
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

function skipSeparator(text: string, at: number): number {
  const next = skipSpace(text, at)
  return text.charCodeAt(next) === comma ? skipSpace(text, next + 1) : next
}

function skipSpace(text: string, at: number): number {
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

function skipString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end + 1
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === backslash) before--
  return (at - before) % 2 === 0
}

function skipValue(text: string, at: number): number {
  if (text.charCodeAt(at) === quote) return skipString(text, at)
  let depth = 0
  for (let next = at; next < text.length; next++) {
    const code = text.charCodeAt(next)
    if (code === quote) {
      next = skipString(text, next) - 1
    } else if (code === 0x7b || code === 0x5b) {
      depth++
    } else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return next
      depth--
      if (depth === 0) return next + 1
    } else if (depth === 0 && (code === comma || code <= 0x20)) {
      return next
    }
  }
  return text.length
}
