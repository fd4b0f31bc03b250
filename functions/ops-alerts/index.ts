import { createLog } from '../_shared/base/log.ts'
import { createApp } from './app.ts'
import { readAlertsEnv } from './env.ts'
import { tell } from './tell.ts'

const { secret, tokens, services } = readAlertsEnv(Deno.env.toObject())

const app = createApp({
  secret,
  tokens,
  tell: (alerts) => tell(services, alerts),
  tellForAlertmanager: (alerts) => tell({ ...services, pagerDuty: null }, alerts),
  log: createLog({ debug: false }),
})

Deno.serve(app.fetch)
