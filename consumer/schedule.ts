/** How often a message is tried before it is given up. */
export const mostAttempts = 6

const firstDelayMs = 1_000
const longestDelayMs = 30_000

/**
 * The wait in milliseconds behind failure number `attempt`: 1, 2, 4, 8, 16 s, each times a random 0.5
 * to 1.5 (`random` gives 0 to 1), 30 s at most. outbox.retry_preset('relay') is the same.
 */
export function delayMs(attempt: number, random: number): number {
  return Math.min(firstDelayMs * 2 ** (attempt - 1) * (0.5 + random), longestDelayMs)
}
