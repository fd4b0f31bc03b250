import type { Ended } from './processes.ts'

/** How many lines of an output without an error are quoted. */
const QUOTED_LINES = 20

/**
 * The causes of a failed `deno test`, one text each: the file, the test and the first line of the error. Deno
 * writes none if its process dies: then the text says how it ended, in which file, and what it wrote last.
 */
export function denoFailures(ended: Ended, files: readonly string[]): string[] {
  const named = [...errorsOf(ended.output)]
  if (named.length > 0) return named
  const file = runningFile(ended.output) ?? files.join(', ')
  const how = ended.signal === null ? `code ${ended.code}` : ended.signal
  const lines = ended.output.trimEnd().split('\n').slice(-QUOTED_LINES)
  return [
    `${file}: deno test ended with ${how} and named no error; its last output:\n` +
    lines.map((line) => `    ${line}`).join('\n'),
  ]
}

/** Each error of Deno's list, below a line `test => ./file:1:2` or `./file (uncaught error)`. */
function* errorsOf(output: string): Generator<string> {
  const list = /^ ERRORS *\n([\s\S]*?)(?:^ FAILURES *$|$(?![\s\S]))/m.exec(output)?.[1] ?? ''
  const entry = /^(?:(.*) => \.\/(\S+?):\d+:\d+|\.\/(\S+) \((.*)\))\nerror: (.*)$/gm
  for (const [, test, file, other, kind, error] of list.matchAll(entry)) {
    yield `${file ?? other}: ${test ?? kind}: ${error}`
  }
}

/** The file whose tests began last. */
function runningFile(output: string): string | undefined {
  return [...output.matchAll(/^running \d+ tests? from \.\/(\S+)$/gm)].at(-1)?.[1]
}
