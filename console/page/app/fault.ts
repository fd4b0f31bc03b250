/**
 * Whether an error is a bug of the page, or comes from a response of another form. Its text does not help the user,
 * and may quote data. A failed request is a `Failure`.
 */
export function isFault(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
}
