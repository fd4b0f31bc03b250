/** The parts of a pattern. `one` matches one character: its source is a character, escape or class. */
export type Part =
  | { kind: 'one'; source: string }
  | { kind: 'assert'; what: Assertion }
  | { kind: 'sequence'; parts: Part[] }
  | { kind: 'choice'; options: Part[] }
  | { kind: 'repeat'; part: Part; least: number; most: number }

export type Assertion = '^' | '$' | '\\b' | '\\B'

/** `^(?=…)(?!…)rest` as its parts: each condition holds where the text begins. */
export type PatternParts = { main: Part; conditions: { part: Part; holds: boolean }[] }

/** A pattern that cannot be matched in linear time. The message continues "the pattern". */
export class PatternError extends Error {
  readonly remedy: string

  constructor(problem: string, remedy: string) {
    super(problem)
    this.name = 'PatternError'
    this.remedy = remedy
  }
}

const mostCharacters = 500
const mostProperties = 20

/** How often a pattern names a property of Unicode, for which JavaScript reads a large table. */
export function countProperties(source: string): number {
  return source.match(/\\p\{/gi)?.length ?? 0
}

/**
 * Splits a pattern (ECMAScript with the flag u) into its parts. Throws PatternError for one that is
 * longer than 500 characters, that does not compile, or that cannot be matched in linear time.
 */
export function parsePattern(source: string): PatternParts {
  if (source.length > mostCharacters) {
    throw new PatternError(
      `has more than ${mostCharacters} characters`,
      'Split it over several patterns in allOf',
    )
  }
  if (countProperties(source) > mostProperties) {
    throw new PatternError(
      `has more than ${mostProperties} classes such as \\p{L}`,
      'Write each class once, such as [\\p{L}\\p{N}]+',
    )
  }
  try {
    new RegExp(source, 'u')
  } catch {
    throw new PatternError('is not a regular expression', 'Expected the syntax of ECMAScript')
  }
  const reader = new Reader(source)
  const conditions = readConditions(reader)
  const rest = readChoice(reader)
  if (conditions.length === 0) return { main: rest, conditions }
  if (rest.kind === 'choice') throw misplaced()
  const main: Part = { kind: 'sequence', parts: [{ kind: 'assert', what: '^' }, rest] }
  return { main, conditions }
}

/** Reads a pattern that is known to compile, so it does not check the syntax. */
class Reader {
  readonly source: string
  at = 0

  constructor(source: string) {
    this.source = source
  }

  /** Whether `text` is next; if so, reads it. */
  skip(text: string): boolean {
    const isNext = this.source.startsWith(text, this.at)
    if (isNext) this.at += text.length
    return isNext
  }

  /** Reads what `pattern` (with the flag y) matches next, or null. */
  match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.source)
    if (found !== null) this.at += found[0].length
    return found
  }
}

function readConditions(reader: Reader): PatternParts['conditions'] {
  const conditions: PatternParts['conditions'] = []
  if (!/^\^\(\?[=!]/.test(reader.source)) return conditions
  reader.at = 1
  for (let found = reader.match(/\(\?[=!]/y); found !== null; found = reader.match(/\(\?[=!]/y)) {
    const part = readChoice(reader)
    reader.skip(')')
    conditions.push({ part, holds: found[0] === '(?=' })
  }
  return conditions
}

function readChoice(reader: Reader): Part {
  const options = [readSequence(reader)]
  while (reader.skip('|')) options.push(readSequence(reader))
  const [only] = options
  return options.length === 1 && only !== undefined ? only : { kind: 'choice', options }
}

function readSequence(reader: Reader): Part {
  const parts: Part[] = []
  while (reader.at < reader.source.length && !/[|)]/.test(reader.source.charAt(reader.at))) {
    parts.push(readRepeat(reader, readOne(reader)))
  }
  return { kind: 'sequence', parts }
}

function readRepeat(reader: Reader, part: Part): Part {
  const found = reader.match(/(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y)
  if (found === null) return part
  const [text, least, comma, most] = found
  if (text.startsWith('*')) return { kind: 'repeat', part, least: 0, most: Infinity }
  if (text.startsWith('+')) return { kind: 'repeat', part, least: 1, most: Infinity }
  if (text.startsWith('?')) return { kind: 'repeat', part, least: 0, most: 1 }
  const top = comma === '' ? Number(least) : most === '' ? Infinity : Number(most)
  return { kind: 'repeat', part, least: Number(least), most: top }
}

/** One code point, also as an escape; a pair of escapes of surrogates is one. */
const character =
  /\\u\{[0-9a-f]+\}|\\u[d][89ab][0-9a-f]{2}\\u[d][c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\c[a-z]|\\p\{[^}]*\}|\\[^]|[^]/iuy
const characterClass = /\[(?:\\[^]|[^\]\\])*\]/uy

function readOne(reader: Reader): Part {
  if (reader.skip('^')) return { kind: 'assert', what: '^' }
  if (reader.skip('$')) return { kind: 'assert', what: '$' }
  if (reader.skip('\\b')) return { kind: 'assert', what: '\\b' }
  if (reader.skip('\\B')) return { kind: 'assert', what: '\\B' }
  if (reader.match(/\((?:\?:|\?<(?![=!])[^>]*>|(?!\?))/y) !== null) {
    const part = readChoice(reader)
    reader.skip(')')
    return part
  }
  if (reader.match(/\(\?[=!]/y) !== null) throw misplaced()
  if (reader.match(/\(\?<[=!]/y) !== null) {
    throw new PatternError('looks behind', 'Match what comes before as a part of the pattern')
  }
  if (reader.match(/\(\?/y) !== null) {
    throw new PatternError('changes its flags', 'Write both letters of each case, such as [aA]')
  }
  if (reader.match(/\\[1-9]|\\k/y) !== null) {
    throw new PatternError('refers back to a group', 'Repeat the group instead of \\1 or \\k')
  }
  const found = reader.match(characterClass) ?? reader.match(character)
  return { kind: 'one', source: found?.[0] ?? '' }
}

function misplaced(): PatternError {
  return new PatternError(
    'looks ahead elsewhere than at its start',
    'Write ^(?=…) or ^(?!…) first, or use several patterns in allOf',
  )
}
