/** The counts of a replay. */
export type Replayed = {
  replayed: number
  /** Messages that are not dead letters, or that the broker refuses; they stay. */
  skipped: number
}
