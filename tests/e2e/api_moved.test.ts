/** An organisation that moves to another project: the API refuses its events and changes with 409, and names that project. */

import { expect } from '@std/expect'
import { startApi, type TestApi } from '../_support/api_app.ts'

const org = 'org-moved'
let api: TestApi

Deno.test.beforeAll(async () => {
  api = await startApi()
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

async function call(request: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const [method = '', path = ''] = request.split(' ')
  const response = await api.app.request(`/api/v1${path}`, {
    method,
    headers: {
      apikey: api.outhook.stack.keys.secretKey,
      'x-org-id': org,
      'content-type': 'application/json',
    },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
  return { status: response.status, body: await response.json() }
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
