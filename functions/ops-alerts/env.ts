import * as z from 'zod'
import { readVariables, secretsVariable } from '../_shared/base/env.ts'
import type { Services } from './send_alerts.ts'

const variables = z.object({
  OUTHOOK_ALERTS_SECRET: z.string().default(''),
  OUTHOOK_ALERTS_TOKEN: secretsVariable,
  PAGERDUTY_ROUTING_KEY: z.string().default(''),
  PAGERDUTY_URL: z.url().optional(),
  NEW_RELIC_ACCOUNT_ID: z.string().regex(/^[0-9]*$/, 'must be a number').default(''),
  NEW_RELIC_LICENSE_KEY: z.string().regex(/^[\x21-\x7e]*$/, 'must be visible ASCII').default(''),
  NEW_RELIC_URL: z.url().optional(),
})

export type AlertsEnv = { secret: string; tokens: string[]; services: Services }

/** Reads the variables; throws an error that names the invalid one, never its value. */
export function readAlertsEnv(environment: Record<string, string | undefined>): AlertsEnv {
  const env = readVariables(variables, environment)
  const { PAGERDUTY_URL, NEW_RELIC_URL } = env
  return {
    secret: env.OUTHOOK_ALERTS_SECRET,
    tokens: env.OUTHOOK_ALERTS_TOKEN,
    services: {
      pagerDuty: env.PAGERDUTY_ROUTING_KEY === '' ? null : {
        routingKey: env.PAGERDUTY_ROUTING_KEY,
        ...PAGERDUTY_URL === undefined ? {} : { url: PAGERDUTY_URL },
      },
      newRelic: env.NEW_RELIC_ACCOUNT_ID === '' || env.NEW_RELIC_LICENSE_KEY === '' ? null : {
        accountId: env.NEW_RELIC_ACCOUNT_ID,
        licenseKey: env.NEW_RELIC_LICENSE_KEY,
        ...NEW_RELIC_URL === undefined ? {} : { url: NEW_RELIC_URL },
      },
    },
  }
}
