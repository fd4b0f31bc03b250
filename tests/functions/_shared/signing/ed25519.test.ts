import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import { createEd25519, createSigningKey } from '../../../../functions/_shared/signing/ed25519.ts'

Deno.test('createEd25519() makes the signatures of RFC 8032', () => {
  // Section 7.1, tests 2 and 3.
  const rows = [
    [
      '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    ],
    [
      'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
      'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac' +
      '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
    ],
  ] as const
  for (const [seed, message, signature] of rows) {
    const sign = createEd25519(Buffer.from(seed, 'hex'))
    expect(sign('', Buffer.from(message, 'hex')).toString('hex')).toBe(signature)
  }
})

Deno.test('createSigningKey() makes another pair each time, the public key within the secret', () => {
  const { secret, publicKey } = createSigningKey()
  expect(secret).toMatch(/^whsk_[A-Za-z0-9+/]{86}==$/)
  expect(publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/)
  const whole = Buffer.from(secret.slice(5), 'base64')
  expect(whole.subarray(32).toString('base64')).toBe(publicKey.slice(5))
  expect(createSigningKey().secret).not.toBe(secret)
})

Deno.test('createEd25519() refuses bytes that are no key', () => {
  expect(() => createEd25519(Buffer.alloc(31))).toThrow()
})
