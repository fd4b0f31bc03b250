type Range = { first: number; last: number }

/**
 * Creates the check of a port by ranges such as `443` and `1024-65535`: it must be in `allow`, unless
 * that is absent, and not in `deny`. An invalid range contains no port.
 */
export function createPortRules(
  allow: readonly string[] | undefined,
  deny: readonly string[] = [],
): (port: number) => boolean {
  const allowed = allow?.map(parseRange)
  const denied = deny.map(parseRange)

  return function allowsPort(port): boolean {
    if (denied.some((range) => holds(range, port))) return false
    return allowed === undefined || allowed.some((range) => holds(range, port))
  }
}

function parseRange(text: string): Range {
  const [first = '', last = first] = text.split('-')
  return { first: Number(first), last: Number(last) }
}

/** A comparison with NaN is false. */
function holds({ first, last }: Range, port: number): boolean {
  return port >= first && port <= last
}
