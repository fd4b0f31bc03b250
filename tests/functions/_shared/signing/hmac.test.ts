import { Buffer } from 'node:buffer'
import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import { createKeyedHmac } from '../../../../functions/_shared/signing/hmac.ts'

Deno.test('createKeyedHmac() returns the digests of createHmac, at every size and repeatedly', () => {
  for (const keyLength of [1, 24, 64, 65, 100]) {
    const key = crypto.getRandomValues(new Uint8Array(keyLength))
    const digest = createKeyedHmac(key)
    for (const size of [0, 1, 55, 56, 63, 64, 65, 1023, 1024, 1025, 5000]) {
      const body = crypto.getRandomValues(new Uint8Array(size))
      const head = `Zürich.${size}.`
      const expected = createHmac('sha256', key).update(head).update(body).digest()
      expect(digest(head, body, 'hex')).toBe(expected.toString('hex'))
      expect(digest(head, Buffer.from(body), 'base64')).toBe(expected.toString('base64'))
    }
  }
})
