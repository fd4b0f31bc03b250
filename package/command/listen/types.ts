/** Whether a text selects event types as a subscription does: `order.paid`, `order.*` or `*`. */
export function isTypePattern(text: string): boolean {
  return /^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$/.test(text)
}

/** Whether one of the patterns selects the type; without patterns, all types are selected. */
export function isSelected(type: string, patterns: readonly string[]): boolean {
  return patterns.length === 0 || patterns.some((pattern) =>
    pattern === '*' || pattern === type ||
    (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))
  )
}

/** The type that the API can select by itself: the only one that is given, without a wildcard. */
export function onlyType(patterns: readonly string[]): string | null {
  const [first, ...others] = patterns
  return first === undefined || others.length > 0 || first.endsWith('*') ? null : first
}
