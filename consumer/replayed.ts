/** The counts of a replay. */
export type Replayed = {
  replayed: number
  /** Messages that are not dead letters; they stay. */
  skipped: number
}
