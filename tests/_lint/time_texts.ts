/**
 * Finds where a test makes a text of a time itself, by a cast or ||: DateStyle, IntervalStyle and TimeZone of the
 * session change it. It knows a time only by the name of its column or by a cast.
 */

const ofTime = String.raw`timestamptz|timestamp|date|interval|time`
const cast = String.raw`(?:(?<!\w)\([^()]*::(?:${ofTime})\)|::(?:${ofTime})\b)`

/** The columns of these statements that are of a type of time, and of no other type in another table. */
export function timeColumns(statements: string): ReadonlySet<string> {
  const types = new Map<string, Set<string>>()
  for (const [table] of statements.matchAll(/^create (?:unlogged )?table [^]*?^\)/gm)) {
    for (
      const [, name = '', type = ''] of table.matchAll(/^ {2}([a-z]\w*) ([a-z]\w*(?:\[\])?)/gm)
    ) {
      types.set(name, (types.get(name) ?? new Set()).add(type))
    }
  }
  const isTime = new RegExp(`^(?:${ofTime})$`)
  return new Set(
    [...types].filter(([, own]) => [...own].every((type) => isTime.test(type)))
      .map(([name]) => name),
  )
}

/** The lines of a test with such a text, as `line N: …`. */
export function timeTexts(text: string, columns: ReadonlySet<string>): string[] {
  // A list of columns behind an alias may give the name to something else.
  const renamed = [...text.matchAll(/\b\w+ \((\w+(?:, \w+)*)\)/g)]
    .flatMap(([, names = '']) => names.split(', '))
  const names = [...columns].filter((name) => !renamed.includes(name))
  const column = String.raw`(?<![\w.'])(?:\w+\.)?(?:${names.join('|')})`
  const patterns = [
    String.raw`(?:${column}|${cast})\s*\|\|`,
    String.raw`\|\|\s*${column}(?!\w|\s*(?:[.(\[<>=+-]|is\b|at time zone\b))`,
    String.raw`(?:${column}|${cast})::text\b`,
  ].map((pattern) => new RegExp(pattern))
  return text.split('\n').flatMap((line, index) => {
    const code = line.replace(/(^|\s)--.*$/, '')
    const found = patterns.map((pattern) => pattern.exec(code)?.[0]).find((one) =>
      one !== undefined
    )
    return found === undefined ? [] : [`line ${index + 1}: ${found.trim()}`]
  })
}
