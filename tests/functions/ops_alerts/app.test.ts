import { expect } from '@std/expect'
import { Webhook } from 'standardwebhooks'
import type { Alert } from '../../../functions/ops-alerts/alert.ts'
import { createApp } from '../../../functions/ops-alerts/app.ts'
import { readAlertsEnv } from '../../../functions/ops-alerts/env.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const token = 't'.repeat(32)

type Answer = { status: number; told: Alert[] }

async function post(
  path: string,
  body: unknown,
  headers: Record<string, string>,
  fails = false,
): Promise<Answer> {
  const told: Alert[] = []
  function send(alerts: Alert[]): Promise<void> {
    told.push(...alerts)
    return fails ? Promise.reject(new Error('PagerDuty answered 500')) : Promise.resolve()
  }
  const app = createApp({
    secret,
    tokens: [token],
    send,
    sendForAlertmanager: send,
    log: () => {},
  })
  const response = await app.request(path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  return { status: response.status, told }
}

async function event(eventType: string, data: unknown, fails = false): Promise<Answer> {
  const at = new Date()
  const body = { id: 'e-1', eventType, createdAt: at.toISOString(), correlationId: 'e-1', data }
  const signature = new Webhook(secret).sign('e-1', at, JSON.stringify(body))
  return await post('/ops-alerts/events', body, {
    'webhook-id': 'e-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  }, fails)
}

const endpoint = { endpointId: 'n-1', orgId: 'org-1', url: 'https://example.com', reason: 'gone' }

Deno.test('an operational event becomes an alert, and the one after it ends it', async () => {
  const opened = await event('outhook.breaker.opened', endpoint)
  expect(opened).toMatchObject({
    status: 204,
    told: [{ key: 'outhook:breaker:n-1', action: 'trigger', severity: 'warning', source: 'n-1' }],
  })
  const closed = await event('outhook.breaker.closed', endpoint)
  expect(closed.told).toMatchObject([{ key: 'outhook:breaker:n-1', action: 'resolve' }])
  const disabled = await event('outhook.endpoint.disabled', endpoint)
  expect(disabled.told).toMatchObject([{ severity: 'critical', details: { reason: 'gone' } }])
  const dead = await event('outhook.delivery.dead_lettered', {
    ...endpoint,
    eventType: 'order.paid',
    error: 'HTTP 404',
  })
  expect(dead.told[0]?.summary).toBe('Dead letter of org-1: order.paid: HTTP 404')
})

Deno.test('an event of another type is accepted without an alert', async () => {
  for (const type of ['order.paid', 'order.lines.held', 'outhook.whatsapp.notice']) {
    expect([type, await event(type, {})]).toEqual([type, { status: 204, told: [] }])
  }
})

Deno.test('an operational event without a row of its own gets a general alert', async () => {
  const { told } = await event('outhook.pigeon.dead_lettered', {
    consumer: 'ledger',
    error: 'no such account',
  })
  expect(told).toMatchObject([{
    key: 'outhook:pigeon:ledger',
    action: 'trigger',
    severity: 'warning',
    summary: 'outhook.pigeon.dead_lettered: no such account',
    details: { consumer: 'ledger' },
  }])
  expect((await event('outhook.pigeon.held', endpoint)).told)
    .toMatchObject([{ key: 'outhook:pigeon:n-1', summary: 'outhook.pigeon.held: org-1: gone' }])
})

Deno.test('502 if a service did not accept the alert, so that the event is redelivered', async () => {
  expect(await event('outhook.breaker.opened', endpoint, true)).toMatchObject({ status: 502 })
})

Deno.test('what is not signed, or bears no token, is refused', async () => {
  expect(await post('/ops-alerts/events', {}, {})).toEqual({ status: 401, told: [] })
  expect(await post('/ops-alerts/alertmanager', {}, { authorization: `Bearer ${token}x` }))
    .toEqual({ status: 401, told: [] })
})

Deno.test('an invalid body is refused as not_understood', async () => {
  const headers = { authorization: `Bearer ${token}` }
  expect(await post('/ops-alerts/alertmanager', { version: '3' }, headers))
    .toEqual({ status: 422, told: [] })
})

Deno.test('readAlertsEnv() omits a service without a key, and names no value', () => {
  expect(readAlertsEnv({}).services).toEqual({ pagerDuty: null, newRelic: null })
  expect(readAlertsEnv({ NEW_RELIC_ACCOUNT_ID: '7', NEW_RELIC_LICENSE_KEY: 'k' }).services.newRelic)
    .toEqual({ accountId: '7', licenseKey: 'k' })
  expect(() => readAlertsEnv({ NEW_RELIC_ACCOUNT_ID: 'secret' }))
    .toThrow('Cannot start: NEW_RELIC_ACCOUNT_ID must be a number')
})

Deno.test('an address that is none is 404', async () => {
  const answer = await post('/ops-alerts/nowhere', {}, {})
  expect(answer).toEqual({ status: 404, told: [] })
})
