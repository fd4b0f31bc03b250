/** The number of attempts before a message becomes a dead letter. */
export const mostAttempts = 6

const firstDelayMs = 1_000
const longestDelayMs = 30_000

/**
 * The delay in milliseconds after failed attempt number `attempt`: 1, 2, 4, 8, 16 s, multiplied by a
 * random number from 0.5 to 1.5 (`random` is from 0 to 1), and at most 30 s. outbox.retry_preset('relay')
 * has the same delays.
 */
export function delayMs(attempt: number, random: number): number {
  return Math.min(firstDelayMs * 2 ** (attempt - 1) * (0.5 + random), longestDelayMs)
}
