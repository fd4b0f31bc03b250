/** The counts of a replay. */
export type Replayed = {
  replayed: number
  /** Messages that are not dead letters, or that the broker refuses; they stay. */
  skipped: number
  /** Dead letters that were replayed or discarded in the database; they are not published again. */
  known: number
}

/** How many messages a replay has handled. */
export function handled({ replayed, skipped, known }: Replayed): number {
  return replayed + skipped + known
}
