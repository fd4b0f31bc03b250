import type { Alert } from './alert.ts'
import { newRelicEvent, newRelicUrl } from './new_relic.ts'
import { pagerDutyEvent, pagerDutyUrl } from './pagerduty.ts'

/** The services that receive alerts; null: not used. */
export type Services = {
  pagerDuty: { url?: string; routingKey: string } | null
  newRelic: { url?: string; accountId: string; licenseKey: string } | null
}

const limitMs = 8000

/**
 * Sends the alerts to all services; rejects with the name of a service that did not accept them.
 * After a repeat, PagerDuty deduplicates an alert by its key; New Relic stores it twice.
 */
export async function sendAlerts(
  { pagerDuty, newRelic }: Services,
  alerts: Alert[],
): Promise<void> {
  if (alerts.length === 0) return
  const calls: Promise<void>[] = []
  if (pagerDuty !== null) {
    const { url = pagerDutyUrl, routingKey } = pagerDuty
    for (const alert of alerts) {
      calls.push(post('PagerDuty', `${url}/v2/enqueue`, {}, pagerDutyEvent(alert, routingKey)))
    }
  }
  if (newRelic !== null) {
    const { url = newRelicUrl, accountId, licenseKey } = newRelic
    const path = `${url}/v1/accounts/${accountId}/events`
    calls.push(post('New Relic', path, { 'api-key': licenseKey }, alerts.map(newRelicEvent)))
  }
  await Promise.all(calls)
}

async function post(
  service: string,
  url: string,
  headers: Record<string, string>,
  body: unknown,
): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(limitMs),
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`${service} responded with ${response.status}`)
}
