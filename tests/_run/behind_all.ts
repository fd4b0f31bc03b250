/**
 * What only `task test --all` runs: files that take long and whose failure a file of the short run
 * would most likely show too.
 */

/** A file behind `--all`, and what stands for it in the short run. */
export interface Behind {
  file: string
  /** Why it takes long. */
  why: string
  /** Files of the short run that would still catch its failure, and how. */
  caughtBy: string[]
}

export const behindAll: readonly Behind[] = []

const files = new Set(behindAll.map(({ file }) => file))

/** Whether only `--all`, or a word that selects it, runs the file. */
export function waitsForAll(file: string): boolean {
  return files.has(file)
}
