import { systemClock } from '../_shared/base/clock.ts'
import { connectFunctions } from '../_shared/database/functions.ts'
import { createLog } from '../_shared/base/log.ts'
import { loadTracer } from '../_shared/trace/load.ts'
import { keepAlive } from '../_shared/base/wait_until.ts'
import { mounted } from '../_shared/http/mounted.ts'
import { createApp } from './app.ts'
import { metricsReader } from './database.ts'
import { readMetricsEnv } from './env.ts'

/** Serves the edge function `metrics`. */
export async function serve(): Promise<void> {
  const environment = Deno.env.toObject()
  const { url, key, tokens } = readMetricsEnv(environment)
  const log = createLog({ debug: false })

  const app = createApp({
    tokens,
    // Prometheus times out after 10 s.
    readMetrics: metricsReader(connectFunctions({ url, key, timeoutMs: 8000 })),
    log,
    tracer: await loadTracer({ environment, clock: systemClock, log, keepAlive }),
  })

  Deno.serve(mounted('metrics', app.fetch))
}
