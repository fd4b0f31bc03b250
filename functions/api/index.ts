import { callbackDatabase } from '../_shared/callbacks/database.ts'
import { connectFunctions } from '../_shared/database/functions.ts'
import { createLog } from '../_shared/log.ts'
import { createApp } from './app.ts'
import { createAuthenticate } from './auth/authenticate.ts'
import { apiDatabase } from './database.ts'
import { readApiEnv } from './env.ts'

const env = readApiEnv(Deno.env.toObject())

const callFunction = connectFunctions({ url: env.url, key: env.key })

const app = createApp({
  database: apiDatabase(callFunction),
  callbacks: callbackDatabase(callFunction),
  authenticate: createAuthenticate({
    ...env,
    jwksUrl: new URL('/auth/v1/.well-known/jwks.json', env.url),
    wallNow: Date.now,
  }),
  portalSecrets: env.portalSecrets,
  verifySecrets: env.verifySecrets,
  corsOrigins: env.corsOrigins,
  wallNow: Date.now,
  now: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  log: createLog({ debug: env.debug }),
})

Deno.serve(app.fetch)
