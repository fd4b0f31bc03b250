import { expect } from '@std/expect'
import { readMetricsEnv } from '../../../functions/metrics/env.ts'

const token = 'a'.repeat(32)
const base = { SUPABASE_URL: 'http://localhost:54321', SUPABASE_SERVICE_ROLE_KEY: 'key' }

Deno.test('readMetricsEnv() reads two tokens of a rotation, and none as none', () => {
  expect(readMetricsEnv({ ...base, OUTHOOK_METRICS_TOKEN: `${token}, ${token}b` }))
    .toEqual({ url: base.SUPABASE_URL, key: 'key', tokens: [token, `${token}b`] })
  expect(readMetricsEnv(base).tokens).toEqual([])
})

Deno.test('readMetricsEnv() names what is wrong and never its value', () => {
  expect(() => readMetricsEnv({ ...base, OUTHOOK_METRICS_TOKEN: 'short' }))
    .toThrow('Cannot start: OUTHOOK_METRICS_TOKEN must have at least 32 characters')
  expect(() => readMetricsEnv({ SUPABASE_URL: base.SUPABASE_URL }))
    .toThrow('neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY is set')
})
