import { createLog } from '../_shared/base/log.ts'
import { mounted } from '../_shared/http/mounted.ts'
import { createApp } from './app.ts'
import { readAlertsEnv } from './env.ts'
import { sendAlerts } from './send_alerts.ts'

/** Serves the edge function `ops-alerts`. */
export function serve(): void {
  const { secret, tokens, services } = readAlertsEnv(Deno.env.toObject())

  const app = createApp({
    secret,
    tokens,
    send: (alerts) => sendAlerts(services, alerts),
    sendForAlertmanager: (alerts) => sendAlerts({ ...services, pagerDuty: null }, alerts),
    log: createLog({ debug: false }),
  })

  Deno.serve(mounted('ops-alerts', app.fetch))
}
