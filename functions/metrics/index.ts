import { connectFunctions } from '../_shared/database/functions.ts'
import { createLog } from '../_shared/log.ts'
import { createApp } from './app.ts'
import { metricsReader } from './database.ts'
import { readMetricsEnv } from './env.ts'

const { url, key, tokens } = readMetricsEnv(Deno.env.toObject())

const app = createApp({
  tokens,
  // Prometheus gives up after 10 s.
  readMetrics: metricsReader(connectFunctions({ url, key, timeoutMs: 8000 })),
  log: createLog({ debug: false }),
})

Deno.serve(app.fetch)
