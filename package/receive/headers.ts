/** Headers as `fetch` or Node.js have them. Names of an object are in lower case. */
export type HeadersIn =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** Returns the value of a header by its name in lower case; null if it is missing or empty. */
export type ReadHeader = (name: string) => string | null

/** One way to read headers, however they come. */
export function headerReader(headers: HeadersIn): ReadHeader {
  if (isHeaders(headers)) return (name) => headers.get(name) || null
  return function read(name): string | null {
    const value = headers[name]
    // Node.js joins repeated headers, except for a few that are none of ours.
    return (typeof value === 'string' ? value : value?.join(', ')) || null
  }
}

function isHeaders(headers: HeadersIn): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
