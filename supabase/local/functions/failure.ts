/** What is said of a function that does not start. */

/** A function that has failed to start several times in a row. */
export interface FunctionFailure {
  name: string
  /** How many starts have failed, one after the other. */
  starts: number
  /** The cause with its remedy, and a few lines of what the process wrote. */
  reason: string
}

/** Lines of a stack trace and of Deno's own code tell a person nothing. */
const NOISE = /^\s*(at |\^+\s*$|Stack backtrace|\d+: <unknown>|info: |$)/

const CAUSES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [
    /not found in cache|--cached-only is specified/i,
    'a package that it imports is not in the cache: stop the stack and start it again, which ' +
    'fetches it',
  ],
  [
    /Module not found|Relative import path|not a dependency and not in import map/i,
    'a module that it imports is not there: correct the import or the import map',
  ],
  [
    /SyntaxError|The module's source code could not be parsed/i,
    'it is no valid TypeScript: correct it',
  ],
  [
    /NotCapable|Requires \w+ access/i,
    'it asks for a right that an edge function has not: correct it',
  ],
  [/No space left|ENOSPC/i, 'the disk is full: make room'],
  [/Cannot allocate memory|out of memory/i, 'the memory is full: make room'],
]

/** Why a process ended before it listened, from its exit and from what it wrote. */
export function failureReason(how: string, lines: readonly string[]): string {
  const text = lines.join('\n')
  if (how.startsWith('SIG')) return `something has ended its process (${how})`
  const remedy = CAUSES.find(([pattern]) => pattern.test(text))?.[1] ??
    'its code failed as it was loaded: correct it'
  const telling = lines.filter((line) => !NOISE.test(line)).slice(0, 3)
  return [`${remedy} (${how})`, ...telling.map((line) => `  ${line.trim().slice(0, 300)}`)]
    .join('\n')
}
