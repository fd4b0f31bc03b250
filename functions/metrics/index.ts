import { createLog } from '../_shared/log.ts'
import { createApp } from './app.ts'
import { connectMetricsDatabase } from './database.ts'
import { readMetricsEnv } from './env.ts'

const { url, key, tokens } = readMetricsEnv(Deno.env.toObject())

const app = createApp({
  tokens,
  readMetrics: connectMetricsDatabase({ url, key }),
  log: createLog({ debug: false }),
})

Deno.serve(app.fetch)
