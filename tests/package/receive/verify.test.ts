/** Which requests `outhook/receive` takes for webhooks of Outhook. */

import { expect } from '@std/expect'
import { createSigningKey } from '../../../functions/_shared/signing/ed25519.ts'
import {
  createReceiver,
  type ReceiverOptions,
  WebhookError,
  type WebhookEvent,
} from '../../../package/receive/mod.ts'
import { headerReader } from '../../../package/receive/headers.ts'
import { hmacKey } from '../../../package/receive/keys.ts'
import { verifyRequest } from '../../../package/receive/verify.ts'
import { event, now, otherSecret, type Sample, secret, webhook } from './samples.ts'

type Options = Partial<ReceiverOptions<WebhookEvent, undefined>>

/** What verify() returns, or the code of its error. */
function verified(sample: Sample, options: Options = {}): WebhookEvent | string {
  const receiver = createReceiver({
    secrets: secret,
    handle: () => {},
    now: () => now * 1000,
    ...options,
  })
  const { headers, body } = webhook(sample)
  try {
    return receiver.verify(headers, body)
  } catch (error) {
    if (error instanceof WebhookError) return error.code
    throw error
  }
}

Deno.test('verify() returns the event of a signed request', () => {
  expect(verified({})).toEqual({
    ...event,
    idempotencyKey: 'order-1-paid',
    attempt: 2,
    signedAt: new Date(now * 1000),
    traceparent: null,
  })
})

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

Deno.test('verify() returns the trace context of the request', () => {
  expect(verified({ headers: { traceparent } })).toMatchObject({ traceparent })
})

const refused: [what: string, code: string, sample: Sample, options?: Options][] = [
  ['another body', 'wrong_signature', { signed: '{}' }],
  ['another secret', 'wrong_signature', { secrets: [otherSecret] }],
  ['another id', 'wrong_signature', { headers: { 'webhook-id': 'another' } }],
  ['another time', 'wrong_signature', { headers: { 'webhook-timestamp': String(now - 1) } }],
  ['no signature', 'missing_header', { headers: { 'webhook-signature': null } }],
  ['an empty signature', 'missing_header', { headers: { 'webhook-signature': '' } }],
  ['a scheme alone', 'wrong_signature', { headers: { 'webhook-signature': 'v1,' } }],
  ['an unknown scheme', 'wrong_signature', { headers: { 'webhook-signature': 'v2,AAAA' } }],
  ['no id', 'missing_header', { headers: { 'webhook-id': null } }],
  ['no time', 'missing_header', { headers: { 'webhook-timestamp': null } }],
  ['a time that is no number', 'invalid_timestamp', { headers: { 'webhook-timestamp': 'now' } }],
  ['a time in other digits', 'invalid_timestamp', { headers: { 'webhook-timestamp': '٣' } }],
  ['an age of 301 s', 'too_old', { timestamp: now - 301 }],
  ['an age of 301 s and another body', 'wrong_signature', { timestamp: now - 301, signed: '{}' }],
  ['a time 301 s ahead', 'too_new', { timestamp: now + 301 }],
  ['an age above its own limit', 'too_old', { timestamp: now - 11 }, { toleranceSeconds: 10 }],
  ['a body that is not JSON', 'invalid_body', { body: '{' }],
  ['a body that is not an event', 'invalid_body', { body: '[]' }],
  ['an event without a type', 'invalid_body', { body: '{"id": "1", "data": {}}' }],
  ['an event with another id', 'invalid_body', { id: 'another' }],
]

for (const [what, code, sample, options] of refused) {
  Deno.test(`verify() refuses a request with ${what}`, () => {
    expect(verified(sample, options)).toBe(code)
  })
}

Deno.test('verify() takes a request that is exactly as old or ahead as it may be', () => {
  expect(verified({ timestamp: now - 300 })).toMatchObject({ id: event.id })
  expect(verified({ timestamp: now + 300 })).toMatchObject({ id: event.id })
})

Deno.test('verify() takes a request that one of several secrets signed, on either side', () => {
  expect(verified({ secrets: [otherSecret, secret] })).toMatchObject({ id: event.id })
  const both = { secrets: [otherSecret, secret] }
  expect(verified({ secrets: [secret] }, both)).toMatchObject({ id: event.id })
  expect(verified({ secrets: [otherSecret] }, both)).toMatchObject({ id: event.id })
})

Deno.test('verify() takes an ed25519 signature by its public key alone', () => {
  const { secret: signing, publicKey } = createSigningKey()
  const options = { secrets: publicKey }
  expect(verified({ secrets: [signing] }, options)).toMatchObject({ id: event.id })
  expect(verified({ secrets: [secret, signing] }, options)).toMatchObject({ id: event.id })
  expect(verified({ secrets: [createSigningKey().secret] }, options)).toBe('wrong_signature')
  expect(verified({ secrets: [signing], signed: '{}' }, options)).toBe('wrong_signature')
  // An HMAC secret must not verify what claims to be signed by a key, and the other way round.
  expect(verified({ secrets: [signing] })).toBe('wrong_signature')
  expect(verified({}, options)).toBe('wrong_signature')
})

const unstandard = { 'webhook-signature': null, 'webhook-id': null, 'webhook-timestamp': null }

Deno.test('verify() takes X-Signature if it is told to, with the id of the body', () => {
  for (const signature of ['simple', 'any'] as const) {
    expect(verified({ headers: unstandard }, { signature })).toMatchObject(event)
    expect(verified({ headers: unstandard, signed: '{}' }, { signature })).toBe('wrong_signature')
    expect(verified({ headers: unstandard, timestamp: now - 301 }, { signature })).toBe('too_old')
    expect(verified({ headers: unstandard, secrets: [otherSecret] }, { signature }))
      .toBe('wrong_signature')
  }
  // X-Signature does not cover webhook-id, so a forged one changes nothing.
  expect(verified({ headers: { 'webhook-id': 'forged' } }, { signature: 'simple' }))
    .toMatchObject({ id: event.id })
})

Deno.test('verify() takes X-Signature in capitals, and refuses other text', () => {
  const { headers } = webhook()
  const hex = headers['x-signature']?.slice('sha256='.length).toUpperCase()
  expect(verified({ headers: { 'x-signature': `sha256=${hex}` } }, { signature: 'simple' }))
    .toMatchObject({ id: event.id })
  for (const given of ['sha256=', `sha1=${hex}`, `${hex}`, `sha256=${hex}00`]) {
    expect([given, verified({ headers: { 'x-signature': given } }, { signature: 'simple' })])
      .toEqual([given, 'wrong_signature'])
  }
})

Deno.test('verify() needs webhook-signature unless it is told otherwise', () => {
  expect(verified({ headers: unstandard })).toBe('missing_header')
  // A wrong webhook-signature is not made good by X-Signature.
  const wrong = { 'webhook-signature': 'v1,AAAA' }
  expect(verified({ headers: wrong }, { signature: 'any' })).toBe('wrong_signature')
})

Deno.test('verify() returns the data alone if the endpoint sends only the data', () => {
  const body = JSON.stringify([1, 'Zürich'])
  expect(verified({ body }, { payload: 'data' })).toMatchObject({
    id: event.id,
    eventType: 'order.paid',
    data: [1, 'Zürich'],
    createdAt: null,
    correlationId: 'cart-7',
  })
  expect(verified({ body, headers: { 'x-event-type': null } }, { payload: 'data' }))
    .toBe('missing_header')
})

Deno.test('verify() takes a secret with white space around it', () => {
  expect(verified({}, { secrets: [`${otherSecret}`, ` ${secret}\n`] })).toMatchObject({
    id: event.id,
  })
})

/** Verifies a header against a key that counts its digests. */
function digestsFor(signature: string): number {
  let digests = 0
  const key = hmacKey(() => {
    digests += 1
    return 'A'.repeat(44)
  })
  const headers = { 'webhook-id': 'e', 'webhook-timestamp': String(now) }
  const read = headerReader({ ...headers, 'webhook-signature': signature })
  const options = { keys: [key], form: 'standard', toleranceSeconds: 300, now: now * 1000 } as const
  expect(() => verifyRequest(read, new Uint8Array(), options)).toThrow(/matches none/)
  return digests
}

Deno.test('verify() reads the body once for each key, however many signatures a stranger sends', () => {
  expect(digestsFor(Array(1000).fill(`v1,${'B'.repeat(44)}`).join(' '))).toBe(1)
  // No signature of Outhook has this length, so there is nothing to compare.
  expect(digestsFor(Array(1000).fill('v1,x').join(' '))).toBe(0)
})

Deno.test('verify() reads 16 signatures of a request', () => {
  const { headers } = webhook()
  const right = headers['webhook-signature']
  const wrong = `v1,${'B'.repeat(44)} `
  const sent = (n: number): Sample => ({
    headers: { 'webhook-signature': wrong.repeat(n) + right },
  })
  expect(verified(sent(15))).toMatchObject({ id: event.id })
  expect(verified(sent(16))).toBe('wrong_signature')
})

Deno.test('createReceiver() refuses secrets that cannot verify, without repeating them', () => {
  const { secret: signing, publicKey } = createSigningKey()
  const unfit: [Options, RegExp][] = [
    [{ secrets: [] }, /at least one secret/],
    [{ secrets: '' }, /is empty/],
    [{ secrets: [secret, 'whsec_'] }, /is empty/],
    [{ secrets: signing }, /starts with whpk_/],
    [{ secrets: 'whpk_AAAA' }, /3 bytes instead of 32/],
    [{ secrets: publicKey, signature: 'simple' }, /needs a whsec_ secret/],
    [{ secrets: [secret, `whsec_AAAA BBBB`] }, /white space inside/],
    [{ secrets: `${secret}, ${otherSecret}` }, /white space inside/],
    [{ secrets: 'whsec_not-base64' }, /not base64 after whsec_/],
    [{ secrets: 'whsec_AAAAA' }, /not base64 after whsec_/],
    // SAFETY: what JavaScript passes for a variable that is not set.
    [{ secrets: undefined as unknown as string }, /is the variable set/],
    [{ secrets: [undefined as unknown as string] }, /is the variable set/],
    [{ payload: 'data', signature: 'any' }, /does not cover the id/],
  ]
  for (const [options, message] of unfit) {
    expect(() => createReceiver({ secrets: secret, handle: () => {}, ...options })).toThrow(message)
  }
  try {
    createReceiver({ secrets: signing, handle: () => {} })
  } catch (error) {
    expect(String(error)).not.toContain(signing.slice(5))
  }
})
