/** A file behind `--all`, and what stands for it in the short run. */
export interface Behind {
  file: string
  /** Why it takes long. */
  why: string
  /** Files of the short run that would still catch most of what it catches. */
  caughtBy: readonly string[]
  /** How they do, and what is left to `--all`. */
  how: string
}
