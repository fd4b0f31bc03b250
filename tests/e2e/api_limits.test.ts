/** The limits of an organisation through the API: every route that creates something responds with 409 or 429, never with 500. */

import { expect } from '@std/expect'
import { startApi, type TestApi } from '../_support/api_app.ts'

const org = 'org-limits'
let api: TestApi

Deno.test.beforeAll(async () => {
  api = await startApi()
  for (const [name, value] of Object.entries(limits)) await setLimit(name, value)
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

const limits = {
  'limit.endpoints': 2,
  'limit.endpoint_subscriptions': 2,
  'limit.subscriptions': 3,
  'limit.event_types': 1,
  'limit.replay_jobs': 1,
  'limit.templates': 1,
  'limit.portal_tokens_per_day': 1,
  'limit.event_mib_per_day': 1,
}

async function setLimit(name: string, value: number, orgId = org): Promise<void> {
  const { sql } = api.outhook
  await sql`select outbox.set_org_setting(${orgId}, ${name}, ${sql.json(value)})`
}

type Answer = { status: number; headers: Headers; body: Record<string, unknown> }

async function call(
  request: string,
  body: unknown,
  orgId = org,
  caller: Record<string, string> = { apikey: api.outhook.stack.keys.secretKey },
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ')
  const response = await api.app.request(`/api/v1${path}`, {
    method,
    headers: { ...caller, 'x-org-id': orgId, 'content-type': 'application/json' },
    body: method === 'GET' ? null : JSON.stringify(body),
  })
  const { status, headers } = response
  return { status, headers, body: await response.json() }
}

const reached = (limit: string): object => ({
  status: 409,
  body: {
    code: 'limit_reached',
    detail: expect.stringContaining(`(${limit})`),
    remedy: expect.stringMatching(
      new RegExp(`, or ask the operator to raise the setting ${limit}, for all organisations`),
    ),
  },
})

const url = 'https://example.com/hook'

Deno.test('a further endpoint or subscription is a 409 that names the limit', async () => {
  const first = await call('POST /endpoints', { url, eventTypes: ['a', 'b'] })
  expect(first.status).toBe(201)
  const path = `/endpoints/${first.body['id']}`
  expect(await call(`PATCH ${path}`, { eventTypes: ['a', 'b', 'c'] }))
    .toMatchObject(reached('limit.endpoint_subscriptions'))
  expect(await call(`PATCH ${path}`, { eventTypes: ['a', 'c'] })).toMatchObject({ status: 200 })
  expect(await call('POST /endpoints', { url, eventTypes: ['a', 'b'] }))
    .toMatchObject(reached('limit.subscriptions'))
  expect((await call('POST /endpoints', { url, eventTypes: ['a'] })).status).toBe(201)
  expect(await call('POST /endpoints', { url, eventTypes: [] }))
    .toMatchObject(reached('limit.endpoints'))
  expect((await call('POST /endpoints', { url }, 'org-other')).status).toBe(201)
})

Deno.test('a further event type, replay job, template or channel is a 409 that names the limit', async () => {
  expect((await call('POST /event-types', { type: 'a' })).status).toBe(201)
  expect(await call('POST /event-types', { type: 'b' })).toMatchObject(reached('limit.event_types'))
  expect(await call('PUT /event-types/b', {})).toMatchObject(reached('limit.event_types'))
  expect((await call('PUT /event-types/a', {})).status).toBe(200)
  expect((await call('POST /replay-jobs', {})).status).toBe(201)
  expect(await call('POST /replay-jobs', {})).toMatchObject(reached('limit.replay_jobs'))
  const template = { name: 'reminder', language: 'fr', category: 'UTILITY' }
  expect((await call('PUT /templates/a', template)).status).toBe(200)
  expect(await call('PUT /templates/b', template)).toMatchObject(reached('limit.templates'))
  expect((await call('PUT /templates/a', template)).status).toBe(200)
  await api.outhook.sql`select outbox.put_whatsapp_app('1', 'secret')`
  expect(
    await call('POST /channels', {
      ...{ phoneNumberId: '1', wabaId: '1', appId: '1', accessToken: 'token' },
    }),
  ).toMatchObject(reached('limit.endpoints'))
})

/** Checks a 429 whose Retry-After is the time until the end of the day. */
function expectTomorrow(answer: Answer, limit: string): void {
  const seconds = Number(answer.headers.get('retry-after'))
  const left = 86_400 - Math.floor(Date.now() / 1000) % 86_400
  expect(answer).toMatchObject({
    status: 429,
    body: { code: 'rate_limited', detail: expect.stringContaining(`(${limit})`) },
  })
  expect(seconds).toBeGreaterThan(0)
  expect(Math.abs(seconds - left) % 86_400).toBeLessThan(120)
}

Deno.test('a further portal token of a day is a 429 until the day ends', async () => {
  expect((await call('POST /portal-tokens', {})).status).toBe(201)
  expectTomorrow(await call('POST /portal-tokens', {}), 'limit.portal_tokens_per_day')
})

Deno.test('a further event of a day is a 429 until the day ends', async () => {
  const events = Array.from({ length: 5 }, () => ({ type: 'a', payload: 'x'.repeat(220_000) }))
  expect((await call('POST /events/batch', { events })).status).toBe(202)
  await api.outhook.sql`
    select outbox.dispatch('00000000-0000-7000-8000-000000000001', 1, '[]'::jsonb, 0)`
  const event = { type: 'a', payload: {} }
  expectTomorrow(await call('POST /events', event), 'limit.event_mib_per_day')
  expectTomorrow(await call('POST /events/batch', { events: [event] }), 'limit.event_mib_per_day')
  expect((await call('POST /events', event, 'org-other')).status).toBe(202)
  await setLimit('limit.event_mib_per_day', 2)
  expect((await call('POST /events', event)).status).toBe(202)
})

Deno.test('a token that has left its rows of a day in the audit trail gets a 429, and a secret key does not', async () => {
  const other = 'org-writers'
  const { body } = await call('POST /endpoints', { url }, other)
  const path = `/endpoints/${body['id']}`
  const token = { authorization: `Bearer ${await api.token(other, ['customer-page'])}` }
  const made = await call('POST /portal-tokens', { subject: 'zoe' }, other)
  const portal = { authorization: `Bearer ${made.body['token']}` }
  await setLimit('limit.audit_rows_per_day', 2, other)
  for (const description of ['a', 'b']) {
    expect((await call(`PATCH ${path}`, { description }, other, token)).status).toBe(200)
  }
  const refused = await call(`PATCH ${path}`, { description: 'c' }, other, token)
  expectTomorrow(refused, 'limit.audit_rows_per_day')
  expect(refused.body['remedy']).toContain('ask the operator to raise the setting')
  const secret = `GET ${path}/secret`
  expectTomorrow(await call(secret, null, other, token), 'limit.audit_rows_per_day')
  expect((await call(secret, null, other)).status).toBe(200)
  expect(await call(`GET ${path}`, null, other, token))
    .toMatchObject({ status: 200, body: { description: 'b' } })
  // A row of a template counts for who calls, as any other one.
  const author = { authorization: `Bearer ${await api.token(other, ['templates:write'])}` }
  const template = { name: 'welcome', language: 'en', category: 'UTILITY' }
  expectTomorrow(
    await call('PUT /templates/a', template, other, author),
    'limit.audit_rows_per_day',
  )
  expect((await call('PUT /templates/a', template, other)).status).toBe(200)
  // What stops or protects something passes up to twice the limit, but with no portal token.
  for (const request of [`POST ${path}/pause`, `POST ${path}/secret/rotate`]) {
    expect((await call(request, {}, other, token)).status).toBeLessThan(300)
    expectTomorrow(await call(request, {}, other, portal), 'limit.audit_rows_per_day')
  }
  expectTomorrow(await call(`POST ${path}/pause`, {}, other, token), 'limit.audit_rows_per_day')
  expect((await call(`PATCH ${path}`, { description: 'd' }, other)).status).toBe(200)
})
