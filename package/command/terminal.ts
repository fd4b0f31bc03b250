import type { EventEmitter } from 'node:events'
import process from 'node:process'

/** What a command needs of the outside. */
export interface Terminal {
  /** Whether a person can answer a question. */
  isInteractive: boolean
  print(text: string): void
  printError(text: string): void
}

/**
 * A text without characters that move the cursor or change the terminal: names and errors may come
 * from elsewhere. The escapes are those of JSON, so JSON stays the same value.
 */
export function printable(text: string): string {
  return text.replaceAll(
    // deno-lint-ignore no-control-regex
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The terminal of this process. Without one on both sides, or in CI, nobody is asked. */
export function ownTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  return {
    isInteractive: stdin.isTTY === true && stdout.isTTY === true && !env.CI,
    print: (text) => void stdout.write(`${printable(text)}\n`),
    printError: (text) => void stderr.write(`${printable(text)}\n`),
  }
}

/**
 * Ends the process if nobody reads its output any more, as after `| head -1`, with the code that a shell gives
 * such a program. Other errors stay errors.
 */
export function endWithReader(
  stream: Pick<EventEmitter, 'on'>,
  exit: (code: number) => void,
): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    exit(141)
  })
}

/** The exit codes of the command. */
export const exitCodes = { done: 0, failed: 1, usage: 2, undecided: 3, findings: 5 } as const
