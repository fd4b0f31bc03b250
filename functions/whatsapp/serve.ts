import { createCallbackCounts } from '../_shared/messages/callbacks/counts.ts'
import { callbackCounter, callbackDatabase } from '../_shared/messages/callbacks/database.ts'
import { systemClock } from '../_shared/base/clock.ts'
import { connectFunctions } from '../_shared/database/functions.ts'
import { createLog } from '../_shared/base/log.ts'
import { loadTracer } from '../_shared/trace/load.ts'
import { keepAlive } from '../_shared/base/wait_until.ts'
import { mounted } from '../_shared/http/mounted.ts'
import { createApp } from './app.ts'
import { readWhatsappEnv } from './env.ts'

/** Serves the edge function `whatsapp`. */
export async function serve(): Promise<void> {
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
    countResponse: createCallbackCounts({
      save: callbackCounter(callFunction),
      log,
      later: (work, ms) => void setTimeout(work, ms),
    }),
    tracer: await loadTracer({ environment, clock: systemClock, log, keepAlive }),
  })

  Deno.serve(mounted('whatsapp', app.fetch))
}
