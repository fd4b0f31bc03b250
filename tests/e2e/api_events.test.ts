/** Events, event types and deliveries through the API, as a backend publishes and looks after them. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'

let outhook: TestOuthook
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver', 'api'] })
  call = apiCaller(outhook)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

async function storedBody(id: string): Promise<string | undefined> {
  const [row] = await outhook.sql<
    { body: string }[]
  >`select body from outbox.event where id = ${id}`
  return row?.body
}

const raw = '{"amount": 1.10,  "huge": 123456789012345678901234567890, "text": "\\u00e9 \\/"}'

Deno.test('POST /events delivers the payload to the byte, GET shows it and its delivery', async () => {
  const endpoint = await outhook.createEndpoint('/hooks/raw', {
    p_event_types: ['raw.one'],
    p_payload: 'data',
  })
  const { status, body } = await call('POST /events', {
    body: ` {"type": "raw.one",\n "payload" : ${raw} , "correlationId": "c-1"}`,
  })
  expect(status).toBe(202)
  const [request] = await outhook.requestsOf(body.id, 1)
  expect(new TextDecoder().decode(request?.body)).toBe(raw)
  await outhook.attemptsOf(body.id)
  const got = await call(`GET /events/${body.id}`)
  expect(got).toMatchObject({
    status: 200,
    body: {
      id: body.id,
      type: 'raw.one',
      correlationId: 'c-1',
      routing: 'done',
      payload: JSON.parse(raw),
      deliveries: [{ endpointId: endpoint.id, status: 'delivered', attempt: 1 }],
    },
  })
  const delivery = `${body.id}.${endpoint.id}`
  expect(await call(`GET /deliveries/${delivery}`)).toMatchObject({
    status: 200,
    body: { id: delivery, eventType: 'raw.one', status: 'delivered' },
  })
  expect(await call(`GET /deliveries/${delivery}/attempts`)).toMatchObject({
    status: 200,
    body: {
      data: [{ attempt: 1, kind: 'attempt', outcome: 'delivered', status: 200 }],
      nextCursor: null,
    },
  })
  expect(await call(`POST /deliveries/${delivery}/retry`)).toMatchObject({
    status: 409,
    body: { code: 'wrong_state' },
  })
  expect((await call(`POST /deliveries/${delivery}/replay`)).status).toBe(200)
  await outhook.requestsOf(body.id, 2)
})

Deno.test('POST /events with one Idempotency-Key 20 times at once is one event', async () => {
  const headers = { 'idempotency-key': 'twenty' }
  const body = { type: 'key.one', payload: { n: 1 } }
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('POST /events', { headers, body })),
  )
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
  expect(answers[0]?.status).toBe(202)
  expect(await call('POST /events', { headers, body: { ...body, payload: { n: 2 } } }))
    .toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
})

Deno.test('POST /events/batch publishes all in order, or none', async () => {
  const { status, body } = await call('POST /events/batch', {
    headers: { 'idempotency-key': 'batch' },
    body: `{"events": [{"type": "b.one", "payload": ${raw}}, {"payload": "x]", "type": "b.two"}]}`,
  })
  expect(status).toBe(202)
  expect(await Promise.all(body.ids.map(storedBody))).toEqual([raw, '"x]"'])
  expect(
    await call('POST /events/batch', {
      headers: { 'idempotency-key': 'batch' },
      body:
        `{"events": [{"type": "b.one", "payload": ${raw}}, {"payload": "x]", "type": "b.two"}]}`,
    }),
  ).toMatchObject({ status: 202, body })
  expect(
    await call('POST /events/batch', {
      headers: { 'idempotency-key': 'batch' },
      body: `{"events": [{"type": "b.one", "payload": ${raw}}]}`,
    }),
  ).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
  const refused = await call('POST /events/batch', {
    body: {
      events: [{ type: 'b.none', payload: 1 }, {
        type: 'b.none',
        payload: 1,
        deliverAt: '2999-01-01T00:00:00Z',
      }],
    },
  })
  expect(refused).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', field: 'events.1.deliverAt' },
  })
  const { body: found } = await call('GET /events?type=b.none')
  expect(found).toEqual({ data: [], nextCursor: null })
})

Deno.test('nobody publishes an event whose type begins with outhook., whatever the catalogue says', async () => {
  for (const type of ['outhook.dead_letter', 'outhook.test', 'Outhook.Breaker.Opened']) {
    const detail = `type is ${type}, which is the system's own`
    expect(await call('POST /events', { body: { type, payload: {} } }))
      .toMatchObject({ status: 400, body: { code: 'invalid_argument', field: 'type' } })
    expect(await call('POST /events/batch', { body: { events: [{ type, payload: {} }] } }))
      .toMatchObject({ status: 400, body: { code: 'invalid_argument', field: 'events.0.type' } })
    expect(await call(`PUT /event-types/${type}`, { body: {} }))
      .toMatchObject({ status: 400, body: { code: 'invalid_argument', field: 'type', detail } })
  }
})

const refusals: [what: string, body: string, field: string | undefined][] = [
  ['no payload', '{"type": "a"}', 'payload'],
  ['a member twice', '{"type": "a", "payload": 1, "payload": 2}', 'payload'],
  ['an unknown member', '{"type": "a", "payload": 1, "orgId": "x"}', 'orgId'],
  ['a type that is none', '{"type": "a.*", "payload": 1}', 'type'],
  [
    'a time too far away',
    '{"type": "a", "payload": 1, "deliverAt": "2999-01-01T00:00:00Z"}',
    'deliverAt',
  ],
  ['what is not JSON', '{"type": "a", "payload": 01}', undefined],
]
for (const [what, body, field] of refusals) {
  Deno.test(`POST /events refuses ${what}`, async () => {
    const answer = await call('POST /events', { body })
    expect(answer.status).toBe(400)
    expect(answer.body.field).toBe(field)
  })
}

Deno.test('POST /events keeps to the catalogue of a strict organisation, whatever it was before', async () => {
  const headers = { 'x-org-id': 'org-strict' }
  const publish = (payload: unknown, type = 'order.paid'): Promise<ApiAnswer> =>
    call('POST /events', { headers, body: { type, payload } })
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
  const made = await call('POST /event-types', { headers, body: { type: 'order.paid', schema } })
  expect(made).toMatchObject({ status: 201, body: { type: 'order.paid', schema, description: '' } })
  expect((await publish({ id: 'x' }, 'free')).status).toBe(202)
  const keyed = {
    headers: { ...headers, 'idempotency-key': 'before' },
    body: { type: 'free', payload: {} },
  }
  const { body: before } = await call('POST /events', keyed)
  expect(await call('PUT /event-catalogue', { headers, body: { strict: true } }))
    .toMatchObject({ status: 200, body: { strict: true } })
  expect((await publish({ id: 1 })).status).toBe(202)
  expect(await publish({ id: 'x' })).toMatchObject({
    status: 422,
    body: { code: 'schema_mismatch', field: 'payload.id' },
  })
  expect(await publish({}, 'free')).toMatchObject({ status: 400, body: { field: 'type' } })
  expect(await call('POST /events', keyed))
    .toMatchObject({ status: 202, body: { id: before.id, duplicate: true } })
  expect(await call('POST /events', { ...keyed, body: { type: 'free', payload: 1 } }))
    .toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
  expect((await call('PUT /event-types/order.paid', { headers, body: {} })).body.schema).toBe(null)
  expect((await publish({ id: 'x' })).status).toBe(202)
  expect((await call('DELETE /event-types/order.paid', { headers })).status).toBe(200)
  expect((await publish({ id: 'x' })).status).toBe(400)
  await call('PUT /event-catalogue', { headers, body: { strict: false } })
  expect((await publish({ id: 'x' })).status).toBe(202)
})

Deno.test('GET /deliveries lists by status, endpoint, type and time', async () => {
  const headers = { 'x-org-id': 'org-list' }
  const { body: endpoint } = await call('POST /endpoints', {
    headers,
    body: { url: `${outhook.receiver.url}/hooks/list`, eventTypes: ['list.*'] },
  })
  await call(`POST /endpoints/${endpoint.id}/pause`, { headers })
  const { body: event } = await call('POST /events', {
    headers,
    body: { type: 'list.one', payload: {} },
  })
  const query = `status=held&endpointId=${endpoint.id}&eventType=list.one&from=2020-01-01T00:00:00Z`
  const list = (): Promise<ApiAnswer> => call(`GET /deliveries?${query}`, { headers })
  await waitUntil(async () => (await list()).body.data.length > 0, { timeoutMs: patienceMs })
  const found = await list()
  expect(found.body.data).toMatchObject([{ eventId: event.id, status: 'held' }])
  const path = `/deliveries/${found.body.data[0].id}`
  expect(await call(`GET ${path}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
  expect(await call(`POST ${path}/cancel`, { headers })).toMatchObject({
    status: 200,
    body: { status: 'cancelled', reason: 'by key:default' },
  })
})

Deno.test('a list by a pattern of types is refused, for it would find nothing', async () => {
  for (const query of ['/events?type', '/deliveries?eventType', '/dead-letters?eventType']) {
    const answer = await call(`GET ${query}=list.*`)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
    expect(JSON.stringify(answer.body)).toContain('is not words of letters')
  }
})
