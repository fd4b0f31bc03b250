import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import { toResponse } from '../../../../../functions/_shared/messages/callbacks/response.ts'
import { verifyToken } from '../../../../../functions/_shared/messages/callbacks/token.ts'
import { verifyAddress } from '../../../../../functions/_shared/messages/callbacks/verify.ts'

const secret = 's'.repeat(32)
const key = 'a1b2c3d4e5f60718'
const token = verifyToken(secret, key)

type Query = Record<string, string>

function ask(over: Query = {}, secrets = [secret], more = ''): Response {
  const query = new URLSearchParams({
    'hub.mode': 'subscribe',
    'hub.challenge': '1158201444',
    'hub.verify_token': token,
    ...over,
  })
  const url = new URL(`https://x.test/whatsapp/inbound/${key}?${query}${more}`)
  return toResponse(verifyAddress(url, key, secrets))
}

Deno.test('verifyToken() is the HMAC-SHA256 of the key in hex', () => {
  expect(token).toBe(createHmac('sha256', secret).update(key).digest('hex'))
})

Deno.test('verifyAddress() returns only the challenge, as plain text', async () => {
  for (const secrets of [[secret], ['n'.repeat(32), secret]]) {
    const response = ask({}, secrets)
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('1158201444')
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
  }
})

Deno.test('verifyAddress() refuses any other token or mode with 403', () => {
  const rows: Query[] = [
    { 'hub.mode': 'unsubscribe' },
    { 'hub.mode': '' },
    { 'hub.verify_token': '' },
    { 'hub.verify_token': token.toUpperCase() },
    { 'hub.verify_token': token.slice(1) },
    { 'hub.verify_token': verifyToken(secret, 'another-key-of-16') },
    { 'hub.verify_token': verifyToken('t'.repeat(32), key) },
    { 'hub.verify_token': '\u{e9}'.repeat(64) },
  ]
  for (const row of rows) expect([row, ask(row).status]).toEqual([row, 403])
  for (const more of ['&hub.mode=subscribe', `&hub.verify_token=${token}`]) {
    expect(ask({}, [secret], more).status).toBe(403)
  }
})

Deno.test('verifyAddress() never returns markup', async () => {
  for (const challenge of ['', '<script>', 'a b', '1'.repeat(257), '1\n2', '%3Cb%3E']) {
    const response = ask({ 'hub.challenge': challenge })
    expect([challenge, response.status]).toEqual([challenge, 400])
    expect(await response.text()).not.toContain('script')
  }
  expect(ask({}, [secret], '&hub.challenge=2').status).toBe(400)
})

Deno.test('verifyAddress() responds 503 without a secret', () => {
  expect(ask({}, []).status).toBe(503)
})
