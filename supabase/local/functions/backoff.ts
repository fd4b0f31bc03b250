const FIRST_MS = 250
const MOST_MS = 30_000

/** The pause in ms after this number of consecutive failed starts; it doubles each time. */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS)
}
