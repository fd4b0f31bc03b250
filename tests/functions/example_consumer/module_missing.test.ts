/** The function example-consumer without the module inbox, whose accept_once() its handler calls. */

import { expect } from '@std/expect'
import { Webhook } from 'standardwebhooks'
import { createApp } from '../../../functions/example-consumer/app.ts'
import { connectReceive } from '../../../functions/example-consumer/database.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Posts a signed event while every RPC responds with 404 and this error, as PostgREST does for 42883. */
async function post(message: string): Promise<{ status: number; code: string; detail: string }> {
  await using rest = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, () => {
    return Response.json({ code: '42883', message, details: null, hint: null }, { status: 404 })
  })
  const url = `http://127.0.0.1:${rest.addr.port}`
  const receive = connectReceive({ url, key: 'sb_secret_test' })
  const app = createApp({ secret, receive, log: () => {} })
  const body = '{"id":"e-1","eventType":"order.paid","data":{"id":1,"total":1}}'
  const at = new Date()
  const response = await app.request('/example-consumer', {
    method: 'POST',
    headers: {
      'webhook-id': 'e-1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('e-1', at, body),
    },
    body,
  })
  return await response.json()
}

Deno.test('example-consumer responds with 501 and the migration if the module inbox is missing', async () => {
  const problem = await post('function outbox.accept_once(unknown, text) does not exist')
  expect(problem).toMatchObject({ status: 501, code: 'module_missing' })
  expect(problem.detail).toContain('The module inbox is not installed: add supabase/migrations/')
  expect(problem.detail).toContain('_outhook_inbox.sql')
})

Deno.test('example-consumer responds with 500 if another function is missing', async () => {
  const problem = await post('function public.receive_order(text) does not exist')
  expect(problem).toMatchObject({ status: 500, code: 'internal' })
})
