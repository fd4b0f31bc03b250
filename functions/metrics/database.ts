import { createClient } from '@supabase/supabase-js'
import type { Database as Schema } from '../_shared/database.types.ts'
import { messageOf } from '../_shared/errors.ts'
import { type MetricsAnswer, metricsAnswer } from './contract.ts'

export type MetricsDatabaseOptions = {
  /** The project's URL, as SUPABASE_URL gives it. */
  url: string
  /** A secret key, or the legacy service role key. */
  key: string
  /** Milliseconds after which a call is given up: below Prometheus's own 10 s. */
  timeoutMs?: number
}

/**
 * Makes a function that asks the database for all metrics, through `/rest/v1/rpc`. It rejects with
 * an Error that says what went wrong and holds no secret.
 */
export function connectMetricsDatabase(
  { url, key, timeoutMs = 8000 }: MetricsDatabaseOptions,
): () => Promise<MetricsAnswer> {
  const client = createClient<Schema, 'outbox'>(url, key, {
    db: { schema: 'outbox' },
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
  })

  return async function readMetrics(): Promise<MetricsAnswer> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), timeoutMs)
    try {
      const { data, error, status } = await client.rpc('get_metrics').abortSignal(limit.signal)
      if (error !== null) throw new Error(`${status} ${error.code} ${error.message}`)
      const read = metricsAnswer.safeParse(data)
      if (read.success) return read.data
      const [issue] = read.error.issues
      throw new Error(
        `Cannot read the answer of outbox.get_metrics: ${issue?.path.join('.')}: ` +
          `${issue?.message}; do the migration and the functions belong to the same version?`,
      )
    } catch (cause) {
      throw new Error(messageOf(cause), { cause })
    } finally {
      clearTimeout(timer)
    }
  }
}
