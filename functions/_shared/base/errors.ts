/** The message of a thrown value; an object that is no Error, such as the Data API's, may have one too. */
export function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) {
    return String(error.message)
  }
  return String(error)
}

/** A thrown value as an Error. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error))
}
