import { messageOf } from '../../functions/_shared/base/errors.ts'

/** An error that the user can fix. Its message has the remedy and is printed without a stack trace. */
export class SetupError extends Error {
  override name = 'SetupError'
}

export { messageOf }

/** Failures of the machine that any write can cause, with their remedies. */
const MACHINE: readonly (readonly [pattern: RegExp, says: string])[] = [
  [
    /no space left on device|disk quota exceeded|wrote only \d+ of \d+ bytes|\(os error (28|122)\)/i,
    'The disk is full: free some space (the stack needs about 200 MB), or set a folder on another disk ' +
    'with --data-dir',
  ],
  [
    /read-only file system|\(os error 30\)/i,
    'The project is on a read-only file system: set a writable folder with --data-dir, or use a ' +
    'clone elsewhere',
  ],
]

/**
 * The message for a failure of the machine (a full disk, a read-only file system), with the line of the
 * error that shows it; null for any other error.
 */
export function machineProblem(error: unknown): string | null {
  const text = `${messageOf(error)}\n${error instanceof Error ? messageOf(error.cause) : ''}`
  const found = MACHINE.find(([pattern]) => pattern.test(text))
  if (found === undefined) return null
  const [pattern, says] = found
  const shown = text.split('\n').find((line) => pattern.test(line)) ?? ''
  return `${says}\n  ${shown.trim().slice(0, 300)}`
}
