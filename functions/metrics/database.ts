import type { CallFunction } from '../_shared/database/functions.ts'
import { isMissingFunction, sameVersionAdvice } from '../_shared/database/versions.ts'
import { type MetricsAnswer, metricsAnswer } from './contract.ts'

/** The database has a version that this function does not work with; the message is for the log. */
export class VersionError extends Error {
  constructor(what: string) {
    super(`${what}; ${sameVersionAdvice}`)
    this.name = 'VersionError'
  }
}

/**
 * Makes a function that asks the database for all metrics. It rejects with an Error that says what
 * went wrong and holds no secret.
 */
export function metricsReader(callFunction: CallFunction): () => Promise<MetricsAnswer> {
  return async function readMetrics(): Promise<MetricsAnswer> {
    const reply = await callFunction('get_metrics', {})
    if (!reply.ok) {
      const { status, error } = reply
      if (isMissingFunction(error)) throw new VersionError('The database has no outbox.get_metrics')
      throw new Error(`${status} ${error.code} ${error.message}`)
    }
    const read = metricsAnswer.safeParse(reply.data)
    if (read.success) return read.data
    const [issue] = read.error.issues
    throw new VersionError(
      `Cannot read the result of outbox.get_metrics: ${issue?.path.join('.')}: ${issue?.message}`,
    )
  }
}
