import { Buffer } from 'node:buffer'
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { expect } from '@std/expect'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { createKeyCache, parseSecret, sign } from '../../../../functions/_shared/signing/sign.ts'
import { secretBytes } from '../../../../functions/_shared/signing/secret_bytes.ts'
import { createSigningKey } from '../../../../functions/_shared/signing/ed25519.ts'
import { sampleEndpoint, sampleSecret } from '../../samples.ts'

const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
const body = Buffer.from('{"test": 2432232314}')
const now = Math.floor(Date.now() / 1000)

Deno.test('sign() makes the signature of the Standard Webhooks vector', () => {
  const { standard } = sign(id, 1614265330, body, [parseSecret(sampleSecret)])
  expect(standard).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

Deno.test('sign() signs with every key, newest first, as standardwebhooks and svix verify', () => {
  const older = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const unicode = Buffer.from('{"city":"Zürich 🚲","n":12345678901234567890,"p":1.10}')
  const { standard } = sign(id, now, unicode, [parseSecret(sampleSecret), parseSecret(older)])
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(now),
    'webhook-signature': standard,
  }
  expect(standard.split(' ').length).toBe(2)
  for (const secret of [sampleSecret, older]) {
    new StandardWebhook(secret).verify(unicode, headers)
    new SvixWebhook(secret).verify(unicode, headers)
  }
  const [newest = ''] = standard.split(' ')
  new StandardWebhook(sampleSecret).verify(unicode, { ...headers, 'webhook-signature': newest })
  const stranger = new StandardWebhook(`whsec_${Buffer.alloc(32, 8).toString('base64')}`)
  expect(() => stranger.verify(unicode, headers)).toThrow()
})

Deno.test('sign() makes x-signature with the decoded bytes of the first secret', () => {
  const older = parseSecret(`whsec_${Buffer.alloc(32, 9).toString('base64')}`)
  const { simple } = sign(id, 1614265330, body, [parseSecret(sampleSecret), older])
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
  const expected = createHmac('sha256', key).update(`1614265330.${body}`).digest('hex')
  expect(simple).toBe(`sha256=${expected}`)
})

Deno.test('sign() signs with ed25519 beside HMAC, as the public key verifies', () => {
  const { secret, publicKey } = createSigningKey()
  const { standard, simple } = sign(id, now, body, [parseSecret(secret), parseSecret(sampleSecret)])
  const [ours = '', shared = ''] = standard.split(' ')
  expect(ours).toMatch(/^v1a,[A-Za-z0-9+/]{86}==$/)
  const signature = Buffer.from(ours.slice(4), 'base64')
  const signed = Buffer.from(`${id}.${now}.${body}`)
  expect(verify(null, signed, publicKeyOf(publicKey), signature)).toBe(true)
  expect(verify(null, Buffer.from(`${id}.${now}. ${body}`), publicKeyOf(publicKey), signature))
    .toBe(false)
  expect(shared).toMatch(/^v1,/)
  expect(simple).toBe(sign(id, now, body, [parseSecret(sampleSecret)]).simple)
  // Libraries that know v1 alone pass over the rest.
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(now),
    'webhook-signature': standard,
  }
  new StandardWebhook(sampleSecret).verify(body, headers)
  new SvixWebhook(sampleSecret).verify(body, headers)
})

Deno.test('sign() leaves x-signature out where there is no secret of scheme v1', () => {
  const { simple } = sign(id, now, body, [parseSecret(createSigningKey().secret)])
  expect(simple).toBe(null)
})

Deno.test('secretBytes() reads padded, unpadded, bare and raw secrets', () => {
  const bytes = Buffer.alloc(25, 3)
  const padded = bytes.toString('base64')
  expect(padded.endsWith('=')).toBe(true)
  const rows: [string, Buffer][] = [
    [`whsec_${padded}`, bytes],
    [`whsec_${padded.replace(/=+$/, '')}`, bytes],
    [padded, bytes],
    ['not base64: $ecret', Buffer.from('not base64: $ecret')],
    ['whsec_no-base64!', Buffer.from('whsec_no-base64!')],
  ]
  for (const [secret, expected] of rows) expect(secretBytes(secret).equals(expected)).toBe(true)
})

Deno.test('keysOf() parses once a version, and again when the secrets differ without one', () => {
  const cache = createKeyCache()
  const endpoint = sampleEndpoint()
  const first = cache.keysOf('e1', endpoint)
  expect(cache.keysOf('e1', { ...endpoint, secrets: [...endpoint.secrets] })).toBe(first)
  expect(cache.keysOf('e1', { ...endpoint, version: 2 })).not.toBe(first)
  const rotated = cache.keysOf('e1', { ...endpoint, version: 2, secrets: ['whsec_AAAA'] })
  if (rotated === null) throw new Error('no keys')
  expect(sign(id, 1, body, rotated)).toEqual(sign(id, 1, body, [parseSecret('whsec_AAAA')]))
  expect(cache.keysOf('e1', { ...endpoint, secrets: [] })).toBe(null)
})

Deno.test('keysOf() caches at most as many endpoints as its capacity', () => {
  const cache = createKeyCache(2)
  const endpoint = sampleEndpoint()
  const first = cache.keysOf('e1', endpoint)
  const second = cache.keysOf('e2', endpoint)
  cache.keysOf('e3', endpoint)
  expect(cache.keysOf('e2', endpoint)).toBe(second)
  expect(cache.keysOf('e1', endpoint)).not.toBe(first)
})

function publicKeyOf(text: string): ReturnType<typeof createPublicKey> {
  const header = Buffer.from('302a300506032b6570032100', 'hex')
  const raw = Buffer.from(text.replace(/^whpk_/, ''), 'base64')
  return createPublicKey({ key: Buffer.concat([header, raw]), format: 'der', type: 'spki' })
}
