import type { Renewal, Result } from '../_shared/contract/contract.ts'
import type { DatabaseFault } from '../_shared/database/dispatch.ts'
import type { Log } from '../_shared/base/log.ts'
import { keyOf } from './attempt.ts'

/** The results of one call that replaces a refused one. */
export type Part = {
  results: Result[]
  /** The SQLSTATE and the text of the error: the database stores that it cannot store these results. */
  refusedWith?: string
}

/** Errors that do not depend on the texts of a result: conflicts, lock timeouts and the statement timeout. */
const independentOfTexts = /^(40|55|57014)/

/**
 * Divides a call because the database refuses a part of it: returns the calls that replace it. Several results become two halves.
 * A single result is reported once more without the texts of the endpoint's response, if they may be the cause. If it is still
 * refused, the run reports only that: the delivery is released and redelivered later, and after the third
 * time it is set aside. If that is refused too, it is logged and dropped, and the lease expires.
 */
export function divide(
  reported: readonly (Result | Renewal)[],
  { code, message }: DatabaseFault,
  log: Log,
  refusedWith?: string,
): Part[] {
  const results = reported.filter((one): one is Result => one.outcome !== 'renew')
  const [first, second] = results
  if (first === undefined) return []
  if (second !== undefined) {
    const half = Math.ceil(results.length / 2)
    return [{ results: results.slice(0, half) }, { results: results.slice(half) }]
  }
  if (refusedWith === undefined) {
    const bare = withoutTexts(first)
    const mayBeText = !independentOfTexts.test(code) &&
      JSON.stringify(bare) !== JSON.stringify(first)
    return [
      mayBeText ? { results: [bare] } : {
        results: [first],
        refusedWith: `${code === '' ? 'XX000' : code} ${message}`,
      },
    ]
  }
  log('error', 'result not taken', { ...keyOf(first), outcome: first.outcome, error: message })
  return []
}

function withoutTexts(result: Result): Result {
  if (result.outcome === 'released') return result
  const { outcome, duration_ms } = result
  const status = result.status === undefined ? {} : { status: result.status }
  const known = { ...keyOf(result), duration_ms, ...status }
  if (outcome === 'delivered') return { ...known, outcome, lossy: true }
  return {
    ...known,
    outcome,
    error_class: result.error_class,
    error: 'The database refused to store the response of the endpoint',
    lossy: true,
  }
}
