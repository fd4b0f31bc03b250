import { callbackDatabase } from '../_shared/messages/callbacks/database.ts'
import { systemClock } from '../_shared/base/clock.ts'
import { connectFunctions } from '../_shared/database/functions.ts'
import { createLog } from '../_shared/base/log.ts'
import { loadTracer } from '../_shared/trace/load.ts'
import { keepAlive } from '../_shared/base/wait_until.ts'
import { createApp } from './app.ts'
import { readWhatsappEnv } from './env.ts'

const environment = Deno.env.toObject()
const env = readWhatsappEnv(environment)
const log = createLog({ debug: false })
const callFunction = connectFunctions({ url: env.url, key: env.key })

const app = createApp({
  database: callbackDatabase(callFunction),
  databaseWithin: (trace) => callbackDatabase((name, args) => callFunction(name, args, trace)),
  verifySecrets: env.verifySecrets,
  bodyMs: 10_000,
  now: () => performance.now(),
  log,
  tracer: await loadTracer({ environment, clock: systemClock, log, keepAlive }),
})

Deno.serve(app.fetch)
