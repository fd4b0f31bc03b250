/** Explains why a function does not start. */

/** A function after several consecutive failed starts. */
export interface FunctionFailure {
  name: string
  /** The number of consecutive failed starts. */
  starts: number
  /** The cause with its remedy, and a few lines of the process's output. */
  reason: string
}

/** Lines that do not help a user: stack traces and Deno's own messages. */
const NOISE = /^\s*(at |\^+\s*$|Stack backtrace|\d+: <unknown>|info: |$)/

const CAUSES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /not found in cache|--cached-only is specified/i,
    'a package that it imports is not in the cache: stop the stack and start it again to fetch ' +
    'the package',
  ],
  [
    /Module not found|Relative import path|not a dependency and not in import map/i,
    'a module that it imports is missing: correct the import or the import map',
  ],
  [
    /SyntaxError|The module's source code could not be parsed/i,
    'it is not valid TypeScript: correct it',
  ],
  [
    /NotCapable|Requires \w+ access/i,
    'it needs a permission that an edge function does not have: correct it',
  ],
  [/No space left|ENOSPC/i, 'the disk is full: free some space'],
  [/Cannot allocate memory|out of memory/i, 'there is not enough memory: close other programs'],
]

/** Why a process ended before it listened, from its exit and its output. */
export function failureReason(how: string, lines: readonly string[]): string {
  const text = lines.join('\n')
  if (how.startsWith('SIG')) return `another program ended its process (${how})`
  const remedy = CAUSES.find(([pattern]) => pattern.test(text))?.[1] ??
    'its code failed while it was loaded: correct it'
  return withOutput(`${remedy} (${how})`, lines)
}

/** Why a process was stopped that did not listen within `limitMs`. */
export function silentReason(limitMs: number, lines: readonly string[]): string {
  const cause =
    `it did not listen within ${limitMs / 1000} s: its module must call Deno.serve(), ` +
    'and must not wait long before that'
  return withOutput(cause, lines)
}

/** The cause, and the first three lines of the output that help. */
function withOutput(cause: string, lines: readonly string[]): string {
  const telling = lines.filter((line) => !NOISE.test(line)).slice(0, 3)
  return [cause, ...telling.map((line) => `  ${line.trim().slice(0, 300)}`)].join('\n')
}
