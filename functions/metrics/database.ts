import type { CallFunction } from '../_shared/database/functions.ts'
import { isMissingFunction, sameVersionAdvice } from '../_shared/database/versions.ts'
import { type MetricsResult, metricsResult } from './contract.ts'

/** The database's version does not match this function; the message is for the log. */
export class VersionError extends Error {
  constructor(what: string) {
    super(`${what}; ${sameVersionAdvice}`)
    this.name = 'VersionError'
  }
}

/**
 * Creates a function that reads all metrics from the database. It rejects with an Error without
 * secrets, or with VersionError.
 */
export function metricsReader(callFunction: CallFunction): () => Promise<MetricsResult> {
  return async function readMetrics(): Promise<MetricsResult> {
    const reply = await callFunction('get_metrics', {})
    if (!reply.ok) {
      const { status, error } = reply
      if (isMissingFunction(error)) throw new VersionError('The database has no outbox.get_metrics')
      throw new Error(`${status} ${error.code} ${error.message}`)
    }
    const read = metricsResult.safeParse(reply.data)
    if (read.success) return read.data
    const [issue] = read.error.issues
    throw new VersionError(
      `Cannot read the result of outbox.get_metrics: ${issue?.path.join('.')}: ${issue?.message}`,
    )
  }
}
