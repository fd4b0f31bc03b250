import { ApiError, ConnectionError } from './errors.ts'
import type { Operation } from './operation.ts'

/** How often and how patiently a request is repeated. */
export interface RetryOptions {
  /** How often a request is repeated; 2 by default. */
  retries: number
  /** A request is not repeated if the API asks to wait longer; 30,000 by default. */
  longestWaitMs: number
}

const firstDelayMs = 500
const longestDelayMs = 8_000

/** Statuses of the platform or the API that say nothing about the request itself. */
const passing = new Set([408, 502, 503, 504, 546])

/** Whether a second execution of the operation changes nothing more than the first. */
function mayRepeat({ method, keyed }: Operation): boolean {
  return method === 'GET' || method === 'PUT' || keyed === true
}

/**
 * How long to wait before the request is repeated; null: it must not be repeated, or repeating it
 * does not help. `failed` counts the attempts so far, from 1; `random` is in [0, 1).
 */
export function retryDelay(
  operation: Operation,
  error: unknown,
  failed: number,
  { retries, longestWaitMs }: RetryOptions,
  random: number,
): number | null {
  if (failed > retries || !isPassing(operation, error)) return null
  const most = Math.min(firstDelayMs * 2 ** (failed - 1), longestDelayMs)
  const backoff = most / 2 + random * most / 2
  const asked = error instanceof ApiError ? error.retryAfterMs ?? 0 : 0
  const delay = Math.max(asked, backoff)
  return delay > longestWaitMs ? null : delay
}

/** Whether the failure may pass, and a repeat is safe. */
function isPassing(operation: Operation, error: unknown): boolean {
  if (error instanceof ApiError) {
    // A request over the rate was refused before anything was done.
    if (error.status === 429) return true
    return passing.has(error.status) && mayRepeat(operation)
  }
  return error instanceof ConnectionError && mayRepeat(operation)
}

/** The milliseconds of a Retry-After header, which has seconds or a date; null if it has neither. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
