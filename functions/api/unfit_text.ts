/** Text that Postgres cannot hold, though JSON can: with NUL, or with half of a surrogate pair. */
function isUnfit(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/**
 * Where the first unfit text stands in what JSON.parse gave, as a path such as `events.3.type`; null
 * when there is none. A name that is unfit is the fault of the object that has it. `isSpared` says
 * of a path that nothing below it matters.
 */
export function findUnfitText(
  value: unknown,
  isSpared: (path: string) => boolean = () => false,
  path = '',
): string | null {
  if (isSpared(path)) return null
  if (typeof value === 'string') return isUnfit(value) ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, member] of Object.entries(value)) {
    if (isUnfit(name)) return path
    const found = findUnfitText(member, isSpared, path === '' ? name : `${path}.${name}`)
    if (found !== null) return found
  }
  return null
}
