import { expect } from '@std/expect'
import { readEdgeEnv, readWorkerEnv } from '../../../functions/deliver/env.ts'

const base = { SUPABASE_URL: 'http://127.0.0.1:54321', SUPABASE_SERVICE_ROLE_KEY: 'legacy' }

Deno.test('readEdgeEnv() uses the first secret key, else the service role key', () => {
  const keys = '{"default":"sb_secret_1","other":"sb_secret_2"}'
  expect(readEdgeEnv({ ...base, SUPABASE_SECRET_KEYS: keys }).key).toBe('sb_secret_1')
  expect(readEdgeEnv({ ...base, SUPABASE_SECRET_KEYS: '{}' }).key).toBe('legacy')
  expect(readEdgeEnv(base)).toEqual({
    url: 'http://127.0.0.1:54321',
    key: 'legacy',
    kickSecrets: [],
    transport: 'http1',
    debug: false,
  })
})

Deno.test('readEdgeEnv() names the invalid variable, not its value', () => {
  const rows: [Record<string, string>, RegExp][] = [
    [{ SUPABASE_SERVICE_ROLE_KEY: 'k' }, /SUPABASE_URL/],
    [{ ...base, SUPABASE_SECRET_KEYS: 'sb_secret_bare' }, /SUPABASE_SECRET_KEYS/],
    [{ ...base, SUPABASE_SECRET_KEYS: '{"default":"sb_secret_bare\\nx"}' }, /SUPABASE_SECRET_KEYS/],
    [{ ...base, SUPABASE_SERVICE_ROLE_KEY: 'sb_secret_bare\nx' }, /SUPABASE_SERVICE_ROLE_KEY/],
    [{ SUPABASE_URL: base.SUPABASE_URL }, /SUPABASE_SERVICE_ROLE_KEY/],
    [{ ...base, OUTHOOK_TRANSPORT: 'carrier' }, /OUTHOOK_TRANSPORT/],
    [{ ...base, OUTHOOK_PROXY_AUTHORIZATION: 'sb_secret_bare' }, /OUTHOOK_PROXY_AUTHORIZATION/],
  ]
  for (const [variables, message] of rows) {
    expect(() => readEdgeEnv(variables)).toThrow(message)
    expect(() => readEdgeEnv(variables)).not.toThrow(/sb_secret_bare/)
  }
})

Deno.test('readWorkerEnv() requires a connection string', () => {
  expect(() => readWorkerEnv({})).toThrow(/OUTHOOK_DB_URL is not set/)
  expect(() => readWorkerEnv({ OUTHOOK_DB_URL: 'mysql://u:p@h/d' })).toThrow(/OUTHOOK_DB_URL/)
  const unescaped = { OUTHOOK_DB_URL: 'postgresql://u:sesame#1@h/d' }
  expect(() => readWorkerEnv(unescaped)).toThrow(/OUTHOOK_DB_URL is not a URL: percent-encode/)
  expect(() => readWorkerEnv(unescaped)).not.toThrow(/sesame/)
  const dbUrl = 'postgresql://h/d'
  expect(readWorkerEnv({ OUTHOOK_DB_URL: dbUrl, OUTHOOK_TRANSPORT: 'fetch' }))
    .toEqual({ dbUrl, transport: 'fetch', debug: false })
  const proxyAuthorization = 'Basic dXNlcjpwYXNz'
  expect(readWorkerEnv({ OUTHOOK_DB_URL: dbUrl, OUTHOOK_PROXY_AUTHORIZATION: proxyAuthorization }))
    .toMatchObject({ proxyAuthorization })
})
