/** A token of SQL outside of comments and string literals, with the line it stands on, from 1. */
export interface SqlToken {
  text: string
  line: number
}

const pattern = new RegExp(
  [
    '--[^\\n]*',
    '/\\*[\\s\\S]*?\\*/',
    "[eE]'(?:[^'\\\\]|\\\\.|'')*'",
    "'(?:[^']|'')*'",
    '"(?:[^"]|"")*"',
    '\\$\\w*\\$',
    '[A-Za-z_][\\w$]*',
    '\\d[\\w.]*',
    '\\s+',
    '.',
  ].join('|'),
  'gy',
)

/**
 * Cuts SQL into tokens. Comments, blanks and the contents of string literals are dropped (a literal
 * becomes `''`); the bodies of functions, between dollar quotes, are code like the rest.
 */
export function sqlTokens(text: string): SqlToken[] {
  const tokens: SqlToken[] = []
  let line = 1
  for (const [piece] of text.matchAll(pattern)) {
    const isComment = piece.startsWith('--') || piece.startsWith('/*')
    if (!isComment && piece.trim() !== '') {
      tokens.push({ text: /^e?'/i.test(piece) ? "''" : piece, line })
    }
    line += piece.split('\n').length - 1
  }
  return tokens
}
