/**
 * The rows of a list that begins with a newer first page; null if rows between the two are missing.
 * What the new page no longer has is left out, so that the list does not grow while it is open.
 */
export function withNewest<T>(
  { data, nextCursor }: { data: T[]; nextCursor: string | null },
  held: readonly T[],
): T[] | null {
  if (nextCursor === null) return data
  const ids = new Set(data.map(idOf))
  const last = held.findLastIndex((row) => ids.has(idOf(row)))
  return last === -1 ? null : [...data, ...held.slice(last + 1)]
}

/** What tells a row from another, also after it has changed. */
function idOf(row: unknown): string {
  if (typeof row !== 'object' || row === null) return String(row)
  // SAFETY: any member of an object may be read; an absent one is undefined.
  const { id, type, deliveryId, attempt, at } = row as Readonly<Record<string, unknown>>
  return JSON.stringify(id ?? (deliveryId === undefined ? type : [deliveryId, attempt, at]))
}
