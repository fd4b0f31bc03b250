/** The words of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Whatever was thrown as the Error that a callback asks for. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
