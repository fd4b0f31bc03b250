/**
 * Whether an error comes from a mistake in the page, or from something else than the page expects, so that its
 * text helps nobody and may quote what was read. A failed request is another class of error.
 */
export function isFault(error: unknown): boolean {
  return [TypeError, RangeError, ReferenceError, SyntaxError].some((kind) => error instanceof kind)
}
