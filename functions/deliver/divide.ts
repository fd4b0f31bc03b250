import type { Renewal, Result } from '../_shared/contract/contract.ts'
import type { DatabaseFault } from '../_shared/database/dispatch.ts'
import type { Log } from '../_shared/base/log.ts'
import { keyOf } from './attempt.ts'

/**
 * Divides a call because the database refuses a part of it: returns the results of each call that
 * replaces it. Several results become two halves. A single result is reported once more without the
 * texts of the endpoint's response; if that is refused too, it is logged and dropped, and its lease
 * expires.
 */
export function divide(
  reported: readonly (Result | Renewal)[],
  { message }: DatabaseFault,
  log: Log,
): Result[][] {
  const results = reported.filter((one): one is Result => one.outcome !== 'renew')
  const [first, second] = results
  if (first === undefined) return []
  if (second !== undefined) {
    const half = Math.ceil(results.length / 2)
    return [results.slice(0, half), results.slice(half)]
  }
  const bare = withoutTexts(first)
  if (JSON.stringify(bare) !== JSON.stringify(first)) return [[bare]]
  log('error', 'result not taken', { ...keyOf(first), outcome: first.outcome, error: message })
  return []
}

function withoutTexts(result: Result): Result {
  if (result.outcome === 'released') return result
  const { outcome, duration_ms, status, endpoint_version } = result
  const known = {
    ...keyOf(result),
    duration_ms,
    ...(status === undefined ? {} : { status }),
    ...(endpoint_version === undefined ? {} : { endpoint_version }),
  }
  if (outcome === 'delivered') return { ...known, outcome, lossy: true }
  return {
    ...known,
    outcome,
    error_class: result.error_class,
    error: 'The database refused to store the response of the endpoint',
    lossy: true,
  }
}
