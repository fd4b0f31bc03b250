/** The function example-consumer, which receives what the stack itself sends. */

import { expect } from '@std/expect'
import { Webhook } from 'standardwebhooks'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { docsBlock } from '../project/_docs.ts'

let outhook: TestOuthook
let url: string

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver', 'example-consumer'] })
  url = `${outhook.stack.apiUrl}/functions/v1/example-consumer`
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

async function orders(): Promise<string[]> {
  const rows = await outhook.sql<{ order: string }[]>`
    select order_id || ' ' || total as "order" from public.received_order order by id`
  return rows.map(({ order }) => order)
}

type Post = { id: string; data: unknown; secret?: string; ageMs?: number; body?: string }

async function post({ id, data, secret, ageMs = 0, body }: Post): Promise<number> {
  const signed = JSON.stringify({ id, eventType: 'order.paid', data })
  const at = new Date(Date.now() - ageMs)
  const webhook = new Webhook(secret ?? outhook.stack.keys.exampleSecret)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': webhook.sign(id, at, signed),
    },
    body: body ?? signed,
  })
  await response.body?.cancel()
  return response.status
}

Deno.test('example-consumer takes the documented event, to the last decimal', async () => {
  const script = docsBlock('example-consumer')
    .replace('http://127.0.0.1:54321', outhook.stack.apiUrl)
    .replace('whsec_…', outhook.stack.keys.exampleSecret)
  await outhook.sql.unsafe(script).simple()
  expect(await waitUntil(async () => (await orders()).length > 0, { timeoutMs: patienceMs }))
    .toBe(true)
  expect(await orders()).toEqual(['1 49.90'])
})

Deno.test('example-consumer does the work once, whatever comes again', async () => {
  const one = { id: 'e-2', data: { id: 2, total: 1 } }
  expect(await post(one)).toBe(204)
  expect(await post(one)).toBe(204)
  const two = { id: 'e-3', data: { id: 3, total: 2.5 } }
  expect(await Promise.all([post(two), post(two), post(two)])).toEqual([204, 204, 204])
  expect(await orders()).toEqual(['1 49.90', '2 1', '3 2.5'])
})

Deno.test('example-consumer refuses what is not ours, and keeps no note of work that failed', async () => {
  const data = { id: 4, total: 1 }
  const other = `whsec_${'A'.repeat(43)}=`
  expect(await post({ id: 'e-4', data, secret: other })).toBe(401)
  expect(await post({ id: 'e-4', data, ageMs: 600_000 })).toBe(401)
  expect(await post({ id: 'e-4', data, body: '{"eventType":"order.paid","data":{"id":9}}' })).toBe(
    401,
  )
  expect(await post({ id: 'e-4', data, body: 'x'.repeat(1_100_000) })).toBe(413)
  expect(await post({ id: 'e-4', data: { id: 4, total: null } })).toBe(500)
  expect(await post({ id: 'e-4', data })).toBe(204)
  expect((await orders()).at(-1)).toBe('4 1')
})

Deno.test('its SQL function is for the key alone', async () => {
  for (const key of [outhook.stack.keys.publishableKey, '']) {
    const response = await fetch(`${outhook.stack.apiUrl}/rest/v1/rpc/receive_event`, {
      method: 'POST',
      headers: { apikey: key, 'content-type': 'application/json' },
      body: JSON.stringify({ p_event_id: 'e-5', p_body: '{}' }),
    })
    await response.body?.cancel()
    expect(response.status).toBeGreaterThanOrEqual(401)
  }
})
