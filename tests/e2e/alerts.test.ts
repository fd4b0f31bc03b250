/** How people are called: from operational events, and from a real Alertmanager. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { createApp } from '../../functions/ops-alerts/app.ts'
import { sendAlerts } from '../../functions/ops-alerts/send_alerts.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'
import { type OnCall, startOnCall } from '../_support/on_call.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { startAlertmanager } from '../_support/prometheus.ts'

const token = 't'.repeat(32)
const routingKey = 'r'.repeat(32)

let outhook: TestOuthook
let onCall: OnCall

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver'] })
  onCall = startOnCall()
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await onCall?.stop()
})

/** The function ops-alerts with the services of the test. */
function startRelay(secret: string): { url: string; stop(): Promise<void> } {
  const services = {
    pagerDuty: { url: onCall.url, routingKey },
    newRelic: { url: onCall.url, accountId: '1234', licenseKey: 'license' },
  }
  const app = createApp({
    secret,
    tokens: [token],
    send: (alerts) => sendAlerts(services, alerts),
    sendForAlertmanager: (alerts) => sendAlerts({ ...services, pagerDuty: null }, alerts),
    log: () => {},
  })
  const options = { hostname: '127.0.0.1', port: 0, onListen: (): void => {} }
  const server = Deno.serve(options, app.fetch)
  return {
    url: `http://127.0.0.1:${server.addr.port}/ops-alerts`,
    stop: () => server.shutdown(),
  }
}

Deno.test('operational events reach PagerDuty, New Relic and a channel', async () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const relay = startRelay(secret)
  try {
    const { sql } = outhook
    await sql`select outbox.create_endpoint(${`${relay.url}/events`}, '{outhook.*}',
      p_org_id => 'outhook', p_ordering => 'partition', p_secret => ${secret})`
    await sql`select outbox.create_slack_endpoint(${`${onCall.url}/services/T/B/x`},
      '{outhook.*}', p_org_id => 'outhook')`
    const gone = await outhook.createEndpoint('/status/410', { p_event_types: ['gone'] })
    const refusing = await outhook.createEndpoint('/status/404', { p_event_types: ['refused'] })
    await outhook.publish('gone')
    await outhook.publish('refused')
    const told = (): boolean =>
      onCall.pagerDuty.length >= 2 && onCall.newRelic.length >= 2 && onCall.slack.length >= 2
    expect(await waitUntil(told, { timeoutMs: patienceMs })).toBe(true)
    expect(onCall.refused).toEqual([])
    expect(onCall.pagerDuty.map(({ dedup_key }) => dedup_key).sort())
      .toEqual([`outhook:dead-letter:${refusing.id}`, `outhook:endpoint:${gone.id}`])
    expect(onCall.newRelic).toEqual(expect.arrayContaining([
      expect.objectContaining({ eventType: 'OuthookAlert', severity: 'critical' }),
    ]))
    expect(onCall.slack.some(({ text }) => text?.includes('Endpoint disabled'))).toBe(true)
    // The incident ends when the last dead letter is discarded.
    await sql`
      select outbox.discard_dead_letter(x.event_id, x.endpoint_id, 'known')
      from outbox.dead_letter x where x.endpoint_id = ${refusing.id}`
    const resolved = (): boolean =>
      onCall.pagerDuty.some(({ dedup_key, event_action }) =>
        event_action === 'resolve' && dedup_key === `outhook:dead-letter:${refusing.id}`
      )
    expect(await waitUntil(resolved, { timeoutMs: patienceMs })).toBe(true)
  } finally {
    await relay.stop()
  }
})

Deno.test('Alertmanager calls PagerDuty, writes into the channel, and New Relic is told', async () => {
  const relay = startRelay('')
  const folder = testFolder()
  const config = (await Deno.readTextFile(join(projectRoot, 'sql/ops/alertmanager.yml')))
    .replaceAll(/\b0{32}\b/g, token)
    .replace('https://events.pagerduty.com', onCall.url)
    .replace('https://hooks.slack.com', onCall.url)
    .replace('https://REF.supabase.co/functions/v1/ops-alerts', relay.url)
    .replace('group_wait: 15s', 'group_wait: 0s')
  const alertmanager = await startAlertmanager({ folder, config })
  try {
    const calls = onCall.pagerDuty.length
    const notes = onCall.newRelic.length
    const lines = onCall.slack.length
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{
        labels: { alertname: 'OuthookNoTick', severity: 'page' },
        annotations: {
          summary: 'pg_cron does not start the tick',
          description: 'Retries wait',
          runbook: 'sql/ops/RUNBOOK.md#no-tick',
        },
      }]),
    })
    await response.body?.cancel()
    expect(response.status).toBe(200)
    const told = (): boolean =>
      onCall.pagerDuty.length > calls && onCall.newRelic.length > notes &&
      onCall.slack.length > lines
    expect(await waitUntil(told, { timeoutMs: patienceMs })).toBe(true)
    expect(onCall.refused).toEqual([])
    expect(onCall.pagerDuty.at(-1)).toMatchObject({
      event_action: 'trigger',
      payload: { summary: 'pg_cron does not start the tick', severity: 'critical' },
      links: [{ text: 'Runbook' }],
    })
    expect(onCall.newRelic.at(-1)).toMatchObject({ source: 'OuthookNoTick', severity: 'critical' })
  } finally {
    await alertmanager.stop()
    await relay.stop()
    await Deno.remove(folder, { recursive: true })
  }
})
