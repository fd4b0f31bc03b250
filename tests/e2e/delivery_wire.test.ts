/** What arrives: headers, signatures and bytes, on every try. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { version } from '../../functions/_shared/base/version.ts'
import { retryAtOnce } from '../_support/first_try.ts'
import { startOuthook, type TestEndpoint, type TestOuthook } from '../_support/outhook.ts'
import type { Received } from '../../supabase/local/http/request.ts'

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver'] })
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/** Everything that JSON text can hold and that parsing it and writing it again would change. */
const odd =
  '{ "big":123456789012345678901234567890, "price" : 1.10,"e":1E+2,\t"z":"last","a":"first",' +
  '\n"city":"Zürich 東京 🚲", "esc":"\\u00e9\\/\\u0000", "twice":1, "twice":2 , "list":[ ]}'

async function publish(args: Record<string, unknown>): Promise<string> {
  const { data, error } = await outhook.client.rpc('publish', args)
  if (error !== null) throw new Error(`${error.code} ${error.message}`)
  return String(data)
}

async function publishRaw(type: string, body: string): Promise<string> {
  const [row] = await outhook.sql`select outbox.publish_raw(${type}, ${body}) as id`
  return row?.id
}

/** The first request of an event. */
async function arrival(eventId: string): Promise<Received> {
  const [request] = await outhook.requestsOf(eventId, 1)
  if (request === undefined) throw new Error('nothing came')
  return request
}

function text(request: Received): string {
  return Buffer.from(request.body).toString('utf8')
}

/** Verifies as receivers do: by two packages, and by hand the simpler signature. */
function verify({ secret }: TestEndpoint, request: Received): void {
  const body = text(request)
  const headers = request.headers
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
  // This one returns nothing: it throws where the signature does not hold.
  new SvixWebhook(secret).verify(body, headers)
  for (const webhook of [new Webhook(secret), new SvixWebhook(secret)]) {
    expect(() => webhook.verify(`${body} `, headers)).toThrow('No matching signature')
  }
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const mac = createHmac('sha256', key).update(`${headers['x-timestamp']}.`).update(request.body)
  expect(headers['x-signature']).toBe(`sha256=${mac.digest('hex')}`)
}

async function envelope(eventId: string, data: string): Promise<string> {
  const [event] = await outhook.sql`
    select type, created_at, coalesce(correlation_id, id::text) as correlation_id
    from outbox.event where id = ${eventId}`
  return `{"id":"${eventId}","eventType":"${event?.type}",` +
    `"createdAt":"${event?.created_at.toISOString()}",` +
    `"correlationId":"${event?.correlation_id}","data":${data}}`
}

Deno.test('a webhook carries exactly the headers that are promised', async () => {
  const endpoint = await outhook.createEndpoint('/hooks/all', {
    p_event_types: ['headers.all'],
    p_headers: { 'X-Tenant': 'acme' },
  })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const publishedAt = Date.now()
  const id = await publish({
    p_type: 'headers.all',
    p_payload: { id: 1 },
    p_correlation_id: 'order/4711',
    p_idempotency_key: 'pay-4711',
    p_traceparent: traceparent,
  })
  const request = await arrival(id)
  const { headers } = request
  expect(request.method).toBe('POST')
  expect(request.path).toBe('/hooks/all')
  const timestamp = headers['webhook-timestamp']
  expect(headers).toEqual({
    host: new URL(outhook.receiver.url).host,
    connection: 'keep-alive',
    'accept-encoding': 'identity',
    'content-length': String(request.body.length),
    'content-type': 'application/json',
    'user-agent': `Outhook/${version}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    'idempotency-key': 'pay-4711',
    'x-timestamp': timestamp,
    'x-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    'x-event-type': 'headers.all',
    'x-correlation-id': 'order/4711',
    'x-attempt': '1',
    'x-tenant': 'acme',
    traceparent,
  })
  expect(Number(timestamp)).toBeGreaterThanOrEqual(Math.floor(publishedAt / 1000))
  expect(Number(timestamp)).toBeLessThanOrEqual(Math.floor(request.at / 1000))
  expect(text(request)).toBe(await envelope(id, '{"id": 1}'))
  verify(endpoint, request)
  expect(await outhook.attemptsOf(id)).toEqual([
    { attempt: 1, kind: 'attempt', outcome: 'delivered', status: 200, error_class: null },
  ])
})

Deno.test("a webhook's keys are the event's id where the publisher gave none", async () => {
  const endpoint = await outhook.createEndpoint('/hooks/bare', { p_event_types: ['headers.bare'] })
  const id = await publish({ p_type: 'headers.bare', p_payload: [] })
  const request = await arrival(id)
  expect(request.headers['idempotency-key']).toBe(id)
  expect(request.headers['x-correlation-id']).toBe(id)
  expect(request.headers).not.toHaveProperty('traceparent')
  expect(text(request)).toBe(await envelope(id, '[]'))
  verify(endpoint, request)
})

Deno.test('publish_raw() sends its bytes unchanged on every try', async () => {
  const enveloped = await outhook.createEndpoint('/fail/1/enveloped', {
    p_event_types: ['bytes.odd'],
    p_retry: retryAtOnce,
  })
  const bare = await outhook.createEndpoint('/fail/1/bare', {
    p_event_types: ['bytes.odd'],
    p_payload: 'data',
    p_retry: retryAtOnce,
  })
  const id = await publishRaw('bytes.odd', odd)
  const requests = await outhook.requestsOf(id, 4)
  const bodies = [[enveloped, await envelope(id, odd)], [bare, odd]] as const
  for (const [endpoint, body] of bodies) {
    const attempts = requests.filter(({ path }) => path === endpoint.path)
    expect(attempts.map(({ headers }) => headers['x-attempt'])).toEqual(['1', '2'])
    for (const request of attempts) {
      expect(Buffer.from(request.body).equals(Buffer.from(body))).toBe(true)
      expect(request.headers['idempotency-key']).toBe(id)
      verify(endpoint, request)
    }
  }
  const attempts = await outhook.attemptsOf(id)
  expect(attempts.map(({ attempt, outcome, status }) => `${attempt} ${outcome} ${status}`)).toEqual(
    [
      '1 failed 503',
      '1 failed 503',
      '2 delivered 200',
      '2 delivered 200',
    ],
  )
})

Deno.test('publish_raw() by RPC sends the bytes of the JSON string', async () => {
  const endpoint = await outhook.createEndpoint('/hooks/rpc', { p_event_types: ['bytes.rpc'] })
  const args = { p_type: 'bytes.rpc', p_body: odd }
  const { data: id, error } = await outhook.client.rpc('publish_raw', args)
  expect(error).toBeNull()
  const request = await arrival(String(id))
  expect(text(request)).toBe(await envelope(String(id), odd))
  verify(endpoint, request)
})

Deno.test('a payload as large as is allowed arrives whole', async () => {
  const endpoint = await outhook.createEndpoint('/hooks/large', { p_event_types: ['bytes.large'] })
  const body = `"${'é'.repeat(131_071)}"`
  expect(Buffer.byteLength(body)).toBe(262_144)
  const id = await publishRaw('bytes.large', body)
  const request = await arrival(id)
  expect(text(request)).toBe(await envelope(id, body))
  verify(endpoint, request)
})

Deno.test('a payload that cannot be sent is refused with its reason, also by RPC', async () => {
  const [before] = await outhook.sql`select count(*) from outbox.event`
  const cases = [
    {
      call: () => outhook.client.rpc('publish_raw', { p_type: 'bad.json', p_body: '{"id": 1' }),
      code: 'OH001',
      message: 'payload is not JSON: invalid input syntax for type json',
      hint: 'Expected one JSON value, such as {"id": 1}',
    },
    {
      call: () => outhook.client.rpc('publish_raw', { p_type: 'bad.json', p_body: '' }),
      code: 'OH001',
      message: 'payload is not JSON: invalid input syntax for type json',
      hint: 'Expected one JSON value, such as {"id": 1}',
    },
    {
      call: () =>
        outhook.client.rpc('publish_raw', {
          p_type: 'bad.size',
          p_body: `"${'x'.repeat(262_143)}"`,
        }),
      code: 'OH001',
      message: 'payload has 262145 bytes, more than 262144',
      hint: expect.stringContaining('publish.max_body_bytes'),
    },
    {
      // A jsonb cannot hold U+0000: Postgres says so before the function is called.
      call: () => outhook.client.rpc('publish', { p_type: 'bad.null', p_payload: { a: '\u0000' } }),
      code: '22P05',
      message: 'unsupported Unicode escape sequence',
      hint: null,
    },
    {
      call: () => outhook.client.rpc('publish_raw', { p_type: 'bad.null', p_body: '"\u0000"' }),
      code: '22P05',
      message: 'unsupported Unicode escape sequence',
      hint: null,
    },
  ]
  for (const { call, code, message, hint } of cases) {
    const { status, error } = await call()
    expect({ status, code: error?.code, message: error?.message, hint: error?.hint })
      .toEqual({ status: 400, code, message, hint })
  }
  const [after] = await outhook.sql`select count(*) from outbox.event`
  expect(after).toEqual(before)
})
