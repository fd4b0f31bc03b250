import { createLog } from '../_shared/base/log.ts'
import { createApp } from './app.ts'
import { connectReceive } from './database.ts'
import { readConsumerEnv } from './env.ts'

const env = readConsumerEnv(Deno.env.toObject())
const app = createApp({
  secret: env.secret,
  receive: connectReceive(env),
  log: createLog({ debug: false }),
})

Deno.serve(app.fetch)
