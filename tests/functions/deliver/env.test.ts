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
    project: 'http://127.0.0.1:54321',
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
  const named = { OUTHOOK_DB_URL: dbUrl, OUTHOOK_PROJECT: 'shop' }
  expect(readWorkerEnv({ ...named, OUTHOOK_TRANSPORT: 'fetch' }))
    .toEqual({ dbUrl, project: 'shop', transport: 'fetch', debug: false, healthPort: null })
  const proxyAuthorization = 'Basic dXNlcjpwYXNz'
  expect(readWorkerEnv({ ...named, OUTHOOK_PROXY_AUTHORIZATION: proxyAuthorization }))
    .toMatchObject({ proxyAuthorization })
})

const ref = 'abcdefghijklmnopqrst'
const other = 'bbcdefghijklmnopqrst'
const direct = `postgresql://postgres:p@db.${ref}.supabase.co:5432/postgres`
const pooler = `postgresql://postgres.${ref}:p@aws-0-eu-west-1.pooler.supabase.com:5432/postgres`

Deno.test('readEdgeEnv() names the project: by OUTHOOK_PROJECT, by the database, else by its URL', () => {
  const rows: [Record<string, string>, string][] = [
    [{}, base.SUPABASE_URL],
    [{ SUPABASE_URL: `https://${ref}.supabase.co` }, `https://${ref}.supabase.co`],
    // A custom domain changes the URL, but not the database.
    [{ SUPABASE_URL: 'https://api.example.com', SUPABASE_DB_URL: direct }, ref],
    [{ SUPABASE_DB_URL: 'postgresql://postgres:postgres@db:5432/postgres' }, base.SUPABASE_URL],
    [{ SUPABASE_DB_URL: 'not a URL' }, base.SUPABASE_URL],
    [{ SUPABASE_DB_URL: direct, OUTHOOK_PROJECT: ' shop ' }, 'shop'],
    [{ OUTHOOK_PROJECT: '  ' }, base.SUPABASE_URL],
  ]
  for (const [variables, project] of rows) {
    expect(readEdgeEnv({ ...base, ...variables }).project).toBe(project)
  }
  expect(() => readEdgeEnv({ ...base, OUTHOOK_PROJECT: 'a\nb' })).toThrow(/OUTHOOK_PROJECT must/)
  expect(() => readEdgeEnv({ ...base, OUTHOOK_PROJECT: 'x'.repeat(201) })).toThrow(
    /OUTHOOK_PROJECT/,
  )
})

Deno.test('readWorkerEnv() asks for the project, unless a connection string of Supabase names it', () => {
  const rows: [Record<string, string>, string][] = [
    [{ OUTHOOK_DB_URL: direct }, ref],
    [{ OUTHOOK_DB_URL: pooler }, ref],
    [
      { OUTHOOK_DB_URL: pooler, OUTHOOK_PROJECT: `https://${ref}.supabase.co` },
      `https://${ref}.supabase.co`,
    ],
    [
      { OUTHOOK_DB_URL: direct, OUTHOOK_PROJECT: 'https://api.example.com' },
      'https://api.example.com',
    ],
    [{ OUTHOOK_DB_URL: 'postgresql://postgres.x@h:5432/d', OUTHOOK_PROJECT: 'local' }, 'local'],
  ]
  for (const [variables, project] of rows) expect(readWorkerEnv(variables).project).toBe(project)
  for (
    const dbUrl of [
      'postgresql://h/d',
      'postgresql://u:p@a:1,b:2/d',
      `postgresql://postgres.${ref}@h/d`,
    ]
  ) {
    expect(() => readWorkerEnv({ OUTHOOK_DB_URL: dbUrl })).toThrow(
      "Cannot start: OUTHOOK_PROJECT is not set: set it to the project's URL",
    )
  }
  for (const project of [other, `https://${other}.supabase.co/`]) {
    expect(() => readWorkerEnv({ OUTHOOK_DB_URL: direct, OUTHOOK_PROJECT: project })).toThrow(
      `Cannot start: OUTHOOK_PROJECT names the project ${other}, and OUTHOOK_DB_URL is the database ` +
        `of the project ${ref}: correct one of them`,
    )
  }
})

Deno.test('readWorkerEnv() reads the port for health, and refuses what is none', () => {
  const worker = { OUTHOOK_DB_URL: direct }
  const rows: [string | undefined, number | null][] = [
    [undefined, null],
    ['', null],
    ['0', 0],
    [' 8080 ', 8080],
    ['65535', 65_535],
  ]
  for (const [text, port] of rows) {
    expect(readWorkerEnv({ ...worker, OUTHOOK_HEALTH_PORT: text }).healthPort).toBe(port)
  }
  for (const text of ['65536', '-1', '8080.5', '0x10', 'all', '127.0.0.1:8080']) {
    expect(() => readWorkerEnv({ ...worker, OUTHOOK_HEALTH_PORT: text })).toThrow(
      'Cannot start: OUTHOOK_HEALTH_PORT must be a port, from 0 to 65535',
    )
  }
})
