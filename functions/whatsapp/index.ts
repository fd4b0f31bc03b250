import { callbackDatabase } from '../_shared/callbacks/database.ts'
import { connectFunctions } from '../_shared/database/functions.ts'
import { createLog } from '../_shared/log.ts'
import { createApp } from './app.ts'
import { readWhatsappEnv } from './env.ts'

const env = readWhatsappEnv(Deno.env.toObject())

const app = createApp({
  database: callbackDatabase(connectFunctions({ url: env.url, key: env.key })),
  verifySecrets: env.verifySecrets,
  bodyMs: 10_000,
  now: () => performance.now(),
  log: createLog({ debug: false }),
})

Deno.serve(app.fetch)
