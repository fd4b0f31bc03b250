const pattern = new RegExp(
  [
    '--[^\\n]*',
    '/\\*[\\s\\S]*?\\*/',
    "[eE]'(?:[^'\\\\]|\\\\.|'')*'",
    "'(?:[^']|'')*'",
    '"(?:[^"]|"")*"',
    '(\\$\\w*\\$)[\\s\\S]*?\\1',
    '[\\s\\S]',
  ].join('|'),
  'gy',
)

/** Cuts SQL into its statements, without semicolons and blanks at the ends. */
export function splitStatements(text: string): string[] {
  const statements: string[] = []
  let current = ''
  for (const [piece] of text.matchAll(pattern)) {
    if (piece === ';') {
      statements.push(current.trim())
      current = ''
    } else current += piece
  }
  if (current.trim() !== '') statements.push(current.trim())
  return statements
}
