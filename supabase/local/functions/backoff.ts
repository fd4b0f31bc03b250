const FIRST_MS = 250
const MOST_MS = 30_000

/** How long to wait after so many failed starts in a row, in ms: each time twice as long. */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS)
}
