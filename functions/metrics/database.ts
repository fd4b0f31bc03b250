import type { CallFunction } from '../_shared/database/functions.ts'
import { type MetricsAnswer, metricsAnswer } from './contract.ts'

/**
 * Makes a function that asks the database for all metrics. It rejects with an Error that says what
 * went wrong and holds no secret.
 */
export function metricsReader(callFunction: CallFunction): () => Promise<MetricsAnswer> {
  return async function readMetrics(): Promise<MetricsAnswer> {
    const reply = await callFunction('get_metrics', {})
    if (!reply.ok) {
      throw new Error(`${reply.status} ${reply.error.code} ${reply.error.message}`)
    }
    const read = metricsAnswer.safeParse(reply.data)
    if (read.success) return read.data
    const [issue] = read.error.issues
    throw new Error(
      `Cannot read the answer of outbox.get_metrics: ${issue?.path.join('.')}: ` +
        `${issue?.message}; do the migration and the functions belong to the same version?`,
    )
  }
}
