/**
 * Something the person at the keyboard can put right. The message says what is wrong and what to
 * do, so callers print it alone, without a stack trace.
 */
export class SetupError extends Error {
  override name = 'SetupError'
}

/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
