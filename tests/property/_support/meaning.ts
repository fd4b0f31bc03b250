/** What a result means, by the rules for failures and for the breaker. */

import type { Result } from './trace.ts'

const SECOND = 1_000_000

/** The endpoint wants nothing more and is held; its delivery stays. */
export function isHold({ outcome, status }: Result): boolean {
  return outcome === 'failed' && status === 410
}

/** The run ended without a result. */
export function isLost({ error_class }: Result): boolean {
  return error_class === 'lease_expired'
}

/** Whether a request was made and its end is known. */
export function saysSomething(result: Result): boolean {
  return result.outcome !== 'released' && !isLost(result)
}

/** A request that came to nothing, and not because the receiver asked to wait. */
export function isFailedRequest(result: Result): boolean {
  return result.outcome === 'failed' && saysSomething(result) && hint(result) === null
}

/** An answer that says no for good. */
export function isFinal({ status, error_class }: Result): boolean {
  return status === undefined ? error_class === 'blocked' : status === 404
}

/** How long the receiver asks to be left alone. */
export function hint({ status, retry_after }: Result): number | null {
  if (retry_after === undefined || (status !== 429 && status !== 503)) return null
  return Number(retry_after) * SECOND
}

/** A request that was understood: it ends a streak of failures and closes a probe. */
export function isAnswer({ outcome, status }: Result): boolean {
  return outcome === 'delivered' || (outcome === 'failed' && (status === 404 || status === 410))
}

/** A failure that brings the breaker nearer to opening. */
export function countsAsFailure(result: Result): boolean {
  const { outcome, status, error_class } = result
  if (outcome !== 'failed' || hint(result) !== null) return false
  if (status === undefined) return error_class !== 'blocked' && error_class !== 'lease_expired'
  return status === 429 || status >= 500
}
