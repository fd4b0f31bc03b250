import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import { verifyToken } from '../../../functions/_shared/messages/callbacks/token.ts'
import { createApp } from '../../../functions/whatsapp/app.ts'
import { readWhatsappEnv } from '../../../functions/whatsapp/env.ts'

const key = 'a1b2c3d4e5f60718'
const verifySecret = 'v'.repeat(32)

type Call = { status: number; text: string; lines: string[]; counted: number[] }

async function call(path: string, init: RequestInit = {}, isBroken = false): Promise<Call> {
  const lines: string[] = []
  const counted: number[] = []
  const app = createApp({
    database: {
      findApp: () =>
        isBroken ? Promise.reject(new Error('out of memory')) : Promise.resolve({
          ok: true,
          app: { id: '7', secrets: ['app-secret'], allowUnsigned: false },
        }),
      store: ({ updates }) => {
        const counts = { duplicates: 0, applied: 0, skipped: 0, kept: 0 }
        return Promise.resolve({
          ok: true,
          counts: { stored: updates.length, ...counts },
          warnings: 0,
        })
      },
    },
    verifySecrets: [verifySecret],
    bodyMs: 60_000,
    now: () => 0,
    log: (level, message, fields) => lines.push(JSON.stringify({ level, message, ...fields })),
    countResponse: (status) => counted.push(status),
  })
  const response = await app.request(path, init)
  return { status: response.status, text: await response.text(), lines, counted }
}

function signed(body: string): RequestInit {
  const digest = createHmac('sha256', 'app-secret').update(body).digest('hex')
  return { method: 'POST', headers: { 'x-hub-signature-256': `sha256=${digest}` }, body }
}

Deno.test('POST /whatsapp/inbound/:appKey stores what is signed, and logs counts without the key', async () => {
  const { status, text, lines } = await call(`/whatsapp/inbound/${key}`, signed('{"entry":[1,2]}'))
  expect([status, JSON.parse(text).stored]).toEqual([200, 2])
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'callback', status: 200, stored: 2 })
  expect(lines[0]).not.toContain(key)
})

Deno.test('POST /whatsapp/inbound/:appKey counts its responses, refused ones too', async () => {
  const path = `/whatsapp/inbound/${key}`
  const unsigned = { method: 'POST', body: '{}' }
  const large = { ...signed('{}'), body: 'x'.repeat(3 * 1024 * 1024 + 1) }
  expect((await call(path, signed('{"entry":[1]}'))).counted).toEqual([200])
  expect((await call(path, unsigned)).counted).toEqual([401])
  expect((await call(path, large)).counted).toEqual([413])
  expect((await call('/whatsapp/health')).counted).toEqual([])
})

Deno.test('GET /whatsapp/inbound/:appKey verifies the address by its own token', async () => {
  const query = (token: string): string =>
    `?hub.mode=subscribe&hub.challenge=42&hub.verify_token=${token}`
  const path = `/whatsapp/inbound/${key}`
  // The database may be down meanwhile.
  expect(await call(path + query(verifyToken(verifySecret, key)), {}, true))
    .toMatchObject({ status: 200, text: '42' })
  expect(await call(path + query(verifyToken(verifySecret, 'f'.repeat(16)))))
    .toMatchObject({ status: 403 })
})

Deno.test('GET /whatsapp/health responds 200, and an unknown path 404 and a wrong method 405 as problems, without the key', async () => {
  expect((await call('/whatsapp/health')).status).toBe(200)
  for (
    const [path, method, status, code] of [
      ['/whatsapp/inbound', 'POST', 404, 'not_found'],
      [`/whatsapp/inbound/${key}/x`, 'POST', 404, 'not_found'],
      [`/whatsapp/inbound/${key}`, 'PUT', 405, 'method_not_allowed'],
    ] as const
  ) {
    const response = await call(path, { method })
    const { text } = response
    expect([response.status, JSON.parse(text).code]).toEqual([status, code])
    expect(text).not.toContain(key)
  }
})

Deno.test('an unexpected error is 503, so that WhatsApp retries', async () => {
  const { status, text, lines } = await call(`/whatsapp/inbound/${key}`, signed('{}'), true)
  expect([status, text.includes('memory')]).toEqual([503, false])
  expect(lines.join()).toContain('out of memory')
})

Deno.test('readWhatsappEnv() accepts the first secret key, and secrets that are long enough', () => {
  const base = { SUPABASE_URL: 'http://127.0.0.1:54321', SUPABASE_SERVICE_ROLE_KEY: 'legacy' }
  expect(readWhatsappEnv(base)).toEqual({
    url: base.SUPABASE_URL,
    key: 'legacy',
    verifySecrets: [],
  })
  const two = `${'a'.repeat(32)}, ${'b'.repeat(32)}`
  const keys = '{"default":"sb_secret_1"}'
  expect(readWhatsappEnv({
    ...base,
    SUPABASE_SECRET_KEYS: keys,
    OUTHOOK_WHATSAPP_VERIFY_SECRET: two,
  }))
    .toMatchObject({ key: 'sb_secret_1', verifySecrets: two.split(', ') })
  expect(() => readWhatsappEnv({ ...base, OUTHOOK_WHATSAPP_VERIFY_SECRET: 'short' }))
    .toThrow(/OUTHOOK_WHATSAPP_VERIFY_SECRET must have at least 32/)
  expect(() => readWhatsappEnv({ SUPABASE_URL: base.SUPABASE_URL }))
    .toThrow(/SUPABASE_SERVICE_ROLE_KEY/)
})
