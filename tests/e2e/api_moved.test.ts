/**
 * An organisation that moves to another project: the API refuses its events and changes with 409, and names that
 * project. An endpoint that moves to another database of its organisation: the same until it has arrived.
 */

import { expect } from '@std/expect'
import { startApi, type TestApi } from '../_support/api_app.ts'

const org = 'org-moved'
const spread = 'org-spread'
let api: TestApi

Deno.test.beforeAll(async () => {
  api = await startApi()
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

async function call(
  request: string,
  body?: unknown,
  of = org,
): Promise<{ status: number; body: unknown }> {
  const [method = '', path = ''] = request.split(' ')
  const response = await api.app.request(`/api/v1${path}`, {
    method,
    headers: {
      apikey: api.outhook.stack.keys.secretKey,
      'x-org-id': of,
      'content-type': 'application/json',
    },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}

Deno.test('an event or a change of an organisation that moves is a 409 that names the other project', async () => {
  const { sql } = api.outhook
  const url = 'https://example.com/hook'
  const [created] = await sql<{ id: string }[]>`
    select outbox.create_endpoint(${url}, '{a}', ${org}) ->> 'id' as id`
  const path = `/endpoints/${created?.id}`
  await sql`select outbox.publish('a', '{}', ${org})`
  await sql`select outbox.dispatch('00000000-0000-7000-8000-000000000001', 1, '[]'::jsonb, 0)`
  await sql`select outbox.put_event_type(${org}, 'b')`
  const { body: page } = await call('GET /deliveries')
  const delivery = (page as { data: { id: string }[] }).data[0]?.id
  expect(delivery).toBeDefined()
  await sql`
    insert into outbox.org_move (org_id, move_id, role, status, other, started_at, changed_at)
    values (${org}, gen_random_uuid(), 'source', 'closed', 'eu-2', outbox.clock(), outbox.clock())`
  await sql`select outbox.close_publishing(${org}, outbox.clock())`

  const policy = { strategy: 'fixed', baseDelay: 60, maxRetries: 3 }
  const calls: [request: string, body?: unknown][] = [
    ['POST /events', { type: 'a', payload: {} }],
    ['POST /events/batch', { events: [{ type: 'a', payload: {} }] }],
    ['POST /endpoints', { url, eventTypes: ['a'] }],
    [`PATCH ${path}`, { description: 'x' }],
    [`DELETE ${path}`],
    [`POST ${path}/pause`, {}],
    [`POST ${path}/secret/rotate`, {}],
    [`PUT ${path}/retry-config`, policy],
    ['POST /event-types', { type: 'c' }],
    ['PUT /event-types/b', { description: 'x' }],
    ['DELETE /event-types/b'],
    ['PUT /event-catalogue', { strict: true }],
    ['POST /replay-jobs', {}],
    [`POST /deliveries/${delivery}/retry`],
    [`POST /deliveries/${delivery}/cancel`],
  ]
  const answers: Record<string, unknown> = {}
  for (const [request, body] of calls) answers[request] = await call(request, body)
  const refused = {
    status: 409,
    body: {
      code: 'organisation_moved',
      detail: expect.stringMatching(/^(events\[0\]: )?organisation org-moved is moving to eu-2/),
    },
  }
  expect(answers).toMatchObject(Object.fromEntries(calls.map(([request]) => [request, refused])))
  // What only reads is answered.
  expect((await call(`GET ${path}`)).status).toBe(200)
})

/** All changes of an endpoint, with its replaced secret. */
function changesOf(id: string, secret: string): [request: string, body?: unknown][] {
  const path = `/endpoints/${id}`
  return [
    [`PATCH ${path}`, { description: 'x' }],
    [`PATCH ${path}`, { eventTypes: ['b'] }],
    [`DELETE ${path}`],
    [`POST ${path}/pause`, {}],
    [`POST ${path}/resume`],
    [`PUT ${path}/retry-config`, { strategy: 'fixed', baseDelay: 60, maxRetries: 3 }],
    [`DELETE ${path}/retry-config`],
    [`POST ${path}/secret/rotate`, {}],
    [`DELETE ${path}/secrets/${secret}`],
  ]
}

async function answers(changes: ReturnType<typeof changesOf>): Promise<unknown[]> {
  const all: unknown[] = []
  for (const [request, body] of changes) all.push([request, await call(request, body, spread)])
  return all
}

Deno.test('a change of an endpoint is a 409 until it has arrived from another database, and a 404 after it has left', async () => {
  const { sql } = api.outhook
  const [created] = await sql<{ id: string }[]>`
    select outbox.create_endpoint('https://example.com/hook', '{a}', ${spread}) ->> 'id' as id`
  const id = created?.id ?? ''
  await sql`select outbox.rotate_secret(${id})`
  // The other database is this one: it forgets the endpoint, and gets it as spread-org brings it.
  await sql.begin(async (tx) => {
    const [row] = await tx<{ item: string }[]>`select outbox.send_endpoint(${id}) as item`
    await tx`select outbox.drop_moved_endpoint(${id})`
    await tx`select outbox.receive_endpoint(${spread}, 'eu-1', ${row?.item ?? ''})`
  })
  const [secret] = await sql<{ id: string }[]>`
    select s.id from outbox.endpoint_secret s
    where s.endpoint_id = ${id} and s.expires_at is not null`
  const changes = changesOf(id, secret?.id ?? '')
  const refusal = (status: number, body: object): unknown[] =>
    changes.map(([request]) => [request, { status, body: expect.objectContaining(body) }])
  expect(await answers(changes)).toEqual(refusal(409, {
    code: 'wrong_state',
    detail: `endpoint ${id} moves here from eu-1, which may still deliver to it`,
    remedy: 'Run outhook spread-org again: it continues the move',
  }))
  // What only reads is answered.
  expect(await call(`GET /endpoints/${id}`, undefined, spread)).toMatchObject({
    status: 200,
    body: { status: 'paused', statusReason: 'the endpoint moves here from eu-1' },
  })

  await sql`select outbox.open_endpoint(${id}, 'eu-1')`
  expect(await call(`PATCH /endpoints/${id}`, { description: 'arrived' }, spread)).toMatchObject({
    status: 200,
    body: { status: 'enabled', description: 'arrived' },
  })

  await sql`select outbox.leave_endpoint(${id}, 'eu-2')`
  expect(await answers(changes)).toEqual(refusal(404, { code: 'not_found' }))
  expect((await call(`GET /endpoints/${id}`, undefined, spread)).status).toBe(404)
})
