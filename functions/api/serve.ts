import { createCallbackCounts } from '../_shared/messages/callbacks/counts.ts'
import { callbackCounter, callbackDatabase } from '../_shared/messages/callbacks/database.ts'
import { systemClock } from '../_shared/base/clock.ts'
import { connectFunctions } from '../_shared/database/functions.ts'
import { createLog } from '../_shared/base/log.ts'
import { loadTracer } from '../_shared/trace/load.ts'
import { keepAlive } from '../_shared/base/wait_until.ts'
import { mounted } from '../_shared/http/mounted.ts'
import { createApp } from './app.ts'
import { createAuthenticate } from './auth/authenticate.ts'
import { lazyChannelCheck } from './channel_check/load.ts'
import { apiDatabase } from './database.ts'
import { readApiEnv } from './env.ts'
import { createRequestCounts } from './request_counts.ts'

/** Serves the edge function `api`. */
export async function serve(): Promise<void> {
  const environment = Deno.env.toObject()
  const env = readApiEnv(environment)
  const log = createLog({ debug: env.debug })

  const callFunction = connectFunctions({ url: env.url, key: env.key })
  const database = apiDatabase(callFunction)

  const app = createApp({
    database,
    callbacks: callbackDatabase(callFunction),
    authenticate: createAuthenticate({
      ...env,
      jwksUrl: new URL('/auth/v1/.well-known/jwks.json', env.url),
      wallNow: Date.now,
    }),
    portalSecrets: env.portalSecrets,
    verifySecrets: env.verifySecrets,
    checkChannel: lazyChannelCheck({ ...env, wallNow: Date.now }),
    corsOrigins: env.corsOrigins,
    wallNow: Date.now,
    now: () => performance.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    log,
    tracer: await loadTracer({ environment, clock: systemClock, log, keepAlive }),
    countCallback: createCallbackCounts({
      save: callbackCounter(callFunction),
      log,
      later: (work, ms) => void setTimeout(work, ms),
    }),
    countRequest: createRequestCounts({
      database,
      log,
      later: (work, ms) => void setTimeout(work, ms),
    }),
  })

  Deno.serve(mounted('api', app.fetch))
}
