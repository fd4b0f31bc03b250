/** JSON as text. It is never parsed for display, so numbers, order and repeated keys stay as written. */

export type TokenKind = 'key' | 'string' | 'number' | 'word' | 'mark' | 'space'

export interface Token {
  kind: TokenKind
  text: string
}

const pattern = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|([{}[\],:])|(\s+)/gy

/** The tokens of a JSON text; null if it is not made of such tokens. */
export function tokenize(text: string): Token[] | null {
  const tokens: Token[] = []
  pattern.lastIndex = 0
  let end = 0
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [, string, colon, number, word, mark, space] = match
    if (string !== undefined) {
      tokens.push({ kind: colon === undefined ? 'string' : 'key', text: string })
      if (colon !== undefined) tokens.push({ kind: 'mark', text: ':' })
    } else if (number !== undefined) tokens.push({ kind: 'number', text: number })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word })
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark })
    else if (space !== undefined) tokens.push({ kind: 'space', text: space })
    end = pattern.lastIndex
  }
  return end === text.length ? tokens : null
}

/** The same tokens on lines of their own, indented by two spaces. */
export function indent(tokens: readonly Token[]): Token[] {
  const out: Token[] = []
  let depth = 0
  const solid = tokens.filter(({ kind }) => kind !== 'space')
  const newLine = (): void => {
    out.push({ kind: 'space', text: `\n${'  '.repeat(depth)}` })
  }
  solid.forEach((token, i) => {
    const opens = token.text === '{' || token.text === '['
    const closes = token.text === '}' || token.text === ']'
    const isMark = token.kind === 'mark'
    const before = solid[i - 1]
    const isEmpty = before !== undefined && before.kind === 'mark' &&
      (before.text === '{' || before.text === '[')
    if (isMark && closes) {
      depth--
      if (!isEmpty) newLine()
    } else if (isEmpty) newLine()
    out.push(token)
    if (isMark && opens) depth++
    if (isMark && token.text === ',') newLine()
    if (isMark && token.text === ':') out.push({ kind: 'space', text: ' ' })
  })
  return out
}

/** The text of a member of the outermost object, as it is written; null if there is none. */
export function memberText(json: string, name: string): string | null {
  const tokens = tokenize(json)
  if (tokens === null) return null
  let depth = 0
  let at = 0
  let start: number | null = null
  let isNamed = false
  for (const { kind, text } of tokens) {
    const isMark = kind === 'mark'
    if (isMark && (text === '}' || text === ']')) depth--
    if (start !== null && isMark && (depth === 0 || (depth === 1 && text === ','))) {
      return json.slice(start, at).trim()
    }
    // The colon is part of the match of its key, with the space before it.
    if (isMark && text === ':') at = json.indexOf(':', at)
    at += text.length
    if (isMark && (text === '{' || text === '[')) depth++
    if (isMark && text === ':' && isNamed && depth === 1) start = at
    isNamed = kind === 'key' && JSON.parse(text) === name
  }
  return null
}
