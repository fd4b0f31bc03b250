/** Text that JSON allows and Postgres does not: with NUL, or with half of a surrogate pair. */
function isInvalidText(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/**
 * The path of the first text that Postgres cannot store, such as `events.3.type`; null: there is none.
 * For an invalid member name it is the path of the object. `isSpared` excludes a path and all below it.
 */
export function findInvalidText(
  value: unknown,
  isSpared: (path: string) => boolean = () => false,
  path = '',
): string | null {
  if (isSpared(path)) return null
  if (typeof value === 'string') return isInvalidText(value) ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, member] of Object.entries(value)) {
    if (isInvalidText(name)) return path
    const found = findInvalidText(member, isSpared, path === '' ? name : `${path}.${name}`)
    if (found !== null) return found
  }
  return null
}
