const etags = new WeakMap<object, string>()

/** Remembers the ETag of a response with the object that it contained. */
export function rememberEtag(value: unknown, response: Response): void {
  const etag = response.headers.get('etag')
  if (etag !== null && typeof value === 'object' && value !== null) etags.set(value, etag)
}

/** The ETag of an object that the client returned, for `ifMatch`; null if the API gave none. */
export function etagOf(value: object): string | null {
  return etags.get(value) ?? null
}
