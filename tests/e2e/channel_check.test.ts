/** `POST /channels/{id}/check` on the stack, with the Graph API of the tests. */

import { expect } from '@std/expect'
import { type Org, startWhatsapp, type TestWhatsapp } from '../_support/whatsapp.ts'
import type { ApiAnswer } from '../_support/api.ts'

let wa: TestWhatsapp

Deno.test.beforeAll(async () => {
  wa = await startWhatsapp()
})
Deno.test.afterAll(async () => {
  await wa?.stop()
})

function check(org: Org, channel: Org = org): Promise<ApiAnswer> {
  return wa.call(org, `POST /channels/${wa.channels[channel]}/check`)
}

Deno.test('the check of a channel that is set up finds no fault', async () => {
  const { status, body } = await check('org-a')
  expect([status, body]).toMatchObject([200, { id: wa.channels['org-a'], ok: true }])
  expect(body.checks.map(({ name, result }: Record<string, string>) => `${name} ${result}`))
    .toEqual(['token ok', 'phone_number ok', 'webhook_subscription ok', 'templates ok'])
})

Deno.test('the check names the fault, the code of Meta and the remedy', async () => {
  wa.graph.setFacts('102', { subscribed: [] })
  const first = await check('org-b')
  expect(first).toMatchObject({ status: 200, body: { ok: false } })
  expect(first.body.checks.filter(({ result }: { result: string }) => result !== 'ok'))
    .toMatchObject([{
      name: 'webhook_subscription',
      result: 'failed',
      remedy: expect.stringContaining('/subscribed_apps'),
    }])
  wa.graph.setFacts('102', { subscribed: ['1'] })
  expect((await check('org-b')).body.ok).toBe(true)

  const path = `PUT /channels/${wa.channels['org-c']}/access-token`
  expect((await wa.call('org-c', path, { accessToken: 'expired' })).status).toBe(200)
  const { body } = await check('org-c')
  expect(body.checks).toMatchObject([
    { name: 'token', result: 'failed', remedy: expect.stringContaining('access-token') },
    { name: 'phone_number', result: 'failed', code: '190' },
    { name: 'webhook_subscription', result: 'failed', code: '190' },
    { name: 'templates', result: 'failed', code: '190' },
  ])
})

Deno.test('nobody checks the channel of another organisation, or without the scope', async () => {
  expect(await check('org-a', 'org-b')).toMatchObject({ status: 404, body: { code: 'not_found' } })
  const { stack } = wa.outhook
  const token = await stack.keys.signUserJwt({
    iss: `${stack.apiUrl}/auth/v1`,
    app_metadata: { org_id: 'org-a', outhook_scopes: ['messages:read'] },
  })
  const url = `${stack.apiUrl}/functions/v1/api/v1/channels/${wa.channels['org-a']}/check`
  const response = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(response.status).toBe(403)
  await response.body?.cancel()
})
