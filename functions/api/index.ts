import { createLog } from '../_shared/log.ts'
import { createApp } from './app.ts'
import { createAuthenticate } from './auth/authenticate.ts'
import { connectApiDatabase } from './database.ts'
import { readApiEnv } from './env.ts'

const env = readApiEnv(Deno.env.toObject())

const app = createApp({
  database: connectApiDatabase({ url: env.url, key: env.key }),
  authenticate: createAuthenticate({
    ...env,
    jwksUrl: new URL('/auth/v1/.well-known/jwks.json', env.url),
    wallNow: Date.now,
  }),
  portalSecrets: env.portalSecrets,
  corsOrigins: env.corsOrigins,
  wallNow: Date.now,
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  log: createLog({ debug: env.debug }),
})

Deno.serve(app.fetch)
