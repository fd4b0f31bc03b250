/** What a replay has done. */
export type Replayed = {
  replayed: number
  /** Messages that are no dead letters; they stay where they are. */
  skipped: number
}
