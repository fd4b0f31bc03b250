import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { createSigningKey } from '../../functions/_shared/signing/ed25519.ts'
import { retryAtOnce } from '../_support/first_try.ts'
import { startOuthook, type TestEndpoint, type TestOuthook } from '../_support/outhook.ts'
import type { Received } from '../../supabase/local/http/request.ts'

/** Calls a function of the outbox as a backend does, and gives what it returns. */
async function call<T>(outhook: TestOuthook, name: string, args: object): Promise<T> {
  const { data, error } = await outhook.client.rpc(name, { ...args })
  if (error !== null) throw new Error(`${error.code} ${error.message}`)
  // SAFETY: each caller names the type that the function's comment gives.
  return data as T
}

async function deliver(outhook: TestOuthook, { id }: TestEndpoint): Promise<Received> {
  const args = { p_type: 'order.paid', p_payload: { id: 1 }, p_endpoint_id: id }
  const event = await call<string>(outhook, 'publish', args)
  const [request] = await outhook.requestsOf(event, 1)
  if (request === undefined) throw new Error('nothing came')
  return request
}

/** Whether both packages take a request under a secret. */
function takes(secret: string, { body, headers }: Received): boolean {
  const text = new TextDecoder().decode(body)
  const results = [StandardWebhook, SvixWebhook].map((Webhook) => {
    try {
      new Webhook(secret).verify(text, headers)
      return true
    } catch {
      return false
    }
  })
  expect(new Set(results).size).toBe(1)
  return results[0] ?? false
}

function takesKey(publicKey: string, { body, headers }: Received): boolean {
  const spki = Buffer.concat([
    Buffer.from('302a300506032b6570032100', 'hex'),
    Buffer.from(publicKey.replace('whpk_', ''), 'base64'),
  ])
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' })
  const head = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  const signed = Buffer.concat([Buffer.from(head), body])
  const all = (headers['webhook-signature'] ?? '').split(' ')
  return all.filter((one) => one.startsWith('v1a,'))
    .some((one) => verify(null, signed, key, Buffer.from(one.slice(4), 'base64')))
}

Deno.test('secrets and headers of an endpoint, from a call to the wire', async (t) => {
  const outhook = await startOuthook({ only: ['deliver'] })
  try {
    const endpoint = await outhook.createEndpoint('/secrets', {
      p_headers: { 'X-Tenant': 'tenant-seven' },
    })
    const rotate = (args: object): Promise<{ secret: string; expires_at: string }> =>
      call(outhook, 'rotate_secret', { p_endpoint_id: endpoint.id, ...args })

    let current = endpoint.secret
    await t.step(
      'during the overlap a receiver takes either secret, and without one the new one alone',
      async () => {
        const { secret } = await rotate({})
        const request = await deliver(outhook, endpoint)
        expect([takes(endpoint.secret, request), takes(secret, request)]).toEqual([true, true])
        expect(request.headers['webhook-signature']?.split(' ').length).toBe(2)
        const { secret: newest } = await rotate({ p_overlap: '0' })
        const next = await deliver(outhook, endpoint)
        expect([endpoint.secret, secret, newest].map((one) => takes(one, next)))
          .toEqual([false, false, true])
        current = newest
      },
    )

    await t.step('an ed25519 key signs beside them', async () => {
      const { secret, publicKey } = createSigningKey()
      expect(await rotate({ p_secret: secret })).toMatchObject({ public_key: publicKey })
      const request = await deliver(outhook, endpoint)
      expect(takesKey(publicKey, request)).toBe(true)
      expect(takesKey(createSigningKey().publicKey, request)).toBe(false)
      expect(takes(current, request)).toBe(true)
    })

    await t.step('custom headers arrive, and what is set is in force at once', async () => {
      expect((await deliver(outhook, endpoint)).headers['x-tenant']).toBe('tenant-seven')
      const args = { p_endpoint_id: endpoint.id, p_headers: { authorization: 'Bearer sesame' } }
      expect(await call(outhook, 'set_headers', args))
        .toEqual({ id: endpoint.id, header_names: ['X-Tenant', 'authorization'] })
      expect((await deliver(outhook, endpoint)).headers['authorization']).toBe('Bearer sesame')
    })

    await t.step('no secret and no value of a header is in a log', () => {
      const log = outhook.log.join('\n')
      for (const hidden of ['tenant-seven', 'sesame', endpoint.secret]) {
        expect(log).not.toContain(hidden)
      }
    })
  } finally {
    await outhook.stop()
  }
})

/** Whether X-Signature is of this secret, as a receiver that knows only this header checks it. */
function isSigned(secret: string, { body, headers }: Received): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const mac = createHmac('sha256', key).update(`${headers['x-timestamp']}.`).update(body)
  return headers['x-signature'] === `sha256=${mac.digest('hex')}`
}

Deno.test('a receiver that checks X-Signature alone loses nothing while it changes its secret', async () => {
  let accepted = ''
  const outhook = await startOuthook({
    only: ['deliver'],
    also: { strict: ({ request, answer }) => answer(isSigned(accepted, request) ? 200 : 401) },
  })
  try {
    const endpoint = await outhook.createEndpoint('/strict', {
      p_event_types: ['order.paid'],
      p_retry: retryAtOnce,
    })
    const outcomes = async (): Promise<string[]> => {
      const event = await outhook.publish('order.paid')
      const attempts = await outhook.attemptsOf(event)
      return attempts.map(({ outcome, status }) => `${outcome} ${status}`)
    }
    accepted = endpoint.secret
    expect(await outcomes()).toEqual(['delivered 200'])
    const { secret } = await call<{ secret: string }>(outhook, 'rotate_secret', {
      p_endpoint_id: endpoint.id,
    })
    // The receiver still has the old secret.
    expect(await outcomes()).toEqual(['delivered 200'])
    accepted = secret
    expect(await outcomes()).toEqual(['failed 401', 'delivered 200'])
    expect(await outcomes()).toEqual(['delivered 200'])
    // And back, because the change was rolled back.
    accepted = endpoint.secret
    expect(await outcomes()).toEqual(['failed 401', 'delivered 200'])
  } finally {
    await outhook.stop()
  }
})
