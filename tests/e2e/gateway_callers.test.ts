/** Who is let in as whom: each kind of caller × a small RPC, an open RPC and a small function. */

import { expect } from '@std/expect'
import { SignJWT } from 'jose'
import { startTestGateway, type TestGateway } from './fixtures/gateway.ts'

let gateway: TestGateway

Deno.test.beforeAll(async () => {
  gateway = await startTestGateway({ withFunctions: true })
  await gateway.functions.targets.get('guarded')?.origin(20_000)
})
Deno.test.afterAll(async () => {
  await gateway.stop()
})

/** What a caller sends: `key` as supabase-js takes it, `token` as its Authorization. */
interface Credentials {
  key?: string
  token?: string
}

interface Case {
  caller: string
  credentials(): Credentials | Promise<Credentials>
  /** `who()`, granted to authenticated and service_role: the role, or status and code. */
  who: string
  /** `anyone()`, granted to anon as well. */
  anyone: string
  /** The function `guarded`, whose verify_jwt is true: status, and the platform's code. */
  guarded: string
}

const now = (): number => Math.floor(Date.now() / 1000)
const expired = '401 PGRST303 JWT expired'
const wrongKey = '401 PGRST301 No suitable key or wrong key type'
const denied = '401 42501 permission denied for function who'

const cases: Case[] = [
  {
    caller: 'a secret key',
    credentials: () => ({ key: gateway.keys.secretKey }),
    who: 'service_role',
    anyone: 'service_role',
    guarded: '401 UNAUTHORIZED_INVALID_JWT_FORMAT',
  },
  {
    caller: 'a publishable key',
    credentials: () => ({ key: gateway.keys.publishableKey }),
    who: denied,
    anyone: 'anon',
    guarded: '401 UNAUTHORIZED_INVALID_JWT_FORMAT',
  },
  {
    caller: 'the legacy service_role key',
    credentials: () => ({ key: gateway.keys.serviceRoleKey }),
    who: 'service_role',
    anyone: 'service_role',
    guarded: '200',
  },
  {
    caller: 'the legacy anon key',
    credentials: () => ({ key: gateway.keys.anonKey }),
    who: denied,
    anyone: 'anon',
    guarded: '200',
  },
  {
    caller: "a user's token beside the publishable key",
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await gateway.keys.signUserJwt(),
    }),
    who: 'authenticated',
    anyone: 'authenticated',
    guarded: '200',
  },
  {
    caller: "a user's token beside the secret key",
    credentials: async () => ({
      key: gateway.keys.secretKey,
      token: await gateway.keys.signUserJwt(),
    }),
    who: 'authenticated',
    anyone: 'authenticated',
    guarded: '200',
  },
  {
    caller: 'a token without a role',
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await new SignJWT({ exp: now() + 60 }).setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(gateway.keys.jwtSecret)),
    }),
    who: denied,
    anyone: 'anon',
    guarded: '200',
  },
  {
    caller: 'a token that expired a minute ago',
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await gateway.keys.signUserJwt({ exp: now() - 60 }),
    }),
    who: expired,
    anyone: expired,
    guarded: '401 UNAUTHORIZED_ASYMMETRIC_JWT',
  },
  {
    caller: 'a token that expired ten seconds ago (30 s of skew are forgiven in the database API)',
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await gateway.keys.signUserJwt({ exp: now() - 10 }),
    }),
    who: 'authenticated',
    anyone: 'authenticated',
    guarded: '401 UNAUTHORIZED_ASYMMETRIC_JWT',
  },
  {
    caller: 'a token that is not valid yet',
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await gateway.keys.signUserJwt({ nbf: now() + 60 }),
    }),
    who: '401 PGRST303 JWT not yet valid',
    anyone: '401 PGRST303 JWT not yet valid',
    guarded: '401 UNAUTHORIZED_ASYMMETRIC_JWT',
  },
  {
    caller: 'a token signed with another secret',
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await new SignJWT({ role: 'service_role', exp: now() + 60 })
        .setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32).fill(7)),
    }),
    who: wrongKey,
    anyone: wrongKey,
    guarded: '401 UNAUTHORIZED_LEGACY_JWT',
  },
  {
    caller: 'an unsigned token',
    credentials: () => ({
      key: gateway.keys.publishableKey,
      token: `${btoa('{"alg":"none"}')}.${btoa('{"role":"service_role"}')}.`,
    }),
    who: '401 PGRST301 Wrong or unsupported encoding algorithm',
    anyone: '401 PGRST301 Wrong or unsupported encoding algorithm',
    guarded: '401 UNAUTHORIZED_UNSUPPORTED_TOKEN_ALGORITHM',
  },
  {
    caller: 'a token for a role that the API may not take',
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await gateway.keys.signUserJwt({ role: 'postgres' }),
    }),
    who: '403 42501 permission denied to set role "postgres"',
    anyone: '403 42501 permission denied to set role "postgres"',
    guarded: '200',
  },
  {
    caller: 'a token for a role that does not exist',
    credentials: async () => ({
      key: gateway.keys.publishableKey,
      token: await gateway.keys.signUserJwt({ role: 'nobody' }),
    }),
    who: '401 22023 role "nobody" does not exist',
    anyone: '401 22023 role "nobody" does not exist',
    guarded: '200',
  },
  {
    caller: 'a bad key that looks like a secret key (the local gateway takes it as no key)',
    credentials: () => ({ key: 'sb_secret_wrong' }),
    who: denied,
    anyone: 'anon',
    guarded: '401 UNAUTHORIZED_INVALID_JWT_FORMAT',
  },
  {
    caller: 'a bad key of no known form',
    credentials: () => ({ key: 'wrong' }),
    who: '401 PGRST301 Expected 3 parts in JWT; got 1',
    anyone: '401 PGRST301 Expected 3 parts in JWT; got 1',
    guarded: '401 UNAUTHORIZED_INVALID_JWT_FORMAT',
  },
  {
    caller: 'no key',
    credentials: () => ({}),
    who: denied,
    anyone: 'anon',
    guarded: '401 UNAUTHORIZED_NO_AUTH_HEADER',
  },
]

for (const { caller, credentials, who, anyone, guarded } of cases) {
  Deno.test(`the gateway answers ${caller} as the platform does`, async () => {
    const given = await credentials()
    expect({
      who: await callRpc('who', given),
      anyone: await callRpc('anyone', given),
      guarded: await callGuarded(given),
    }).toEqual({ who, anyone, guarded })
  })
}

/** Through supabase-js, except that it cannot call without a key. */
async function callRpc(name: string, { key, token }: Credentials): Promise<string> {
  if (key === undefined) {
    const response = await fetch(`${gateway.url}/rest/v1/rpc/${name}`, { method: 'POST' })
    const body = await response.json()
    return response.ok ? roleIn(body) : `${response.status} ${body.code} ${body.message}`
  }
  const headers: Record<string, string> = token === undefined
    ? {}
    : { authorization: `Bearer ${token}` }
  const { data, error, status } = await gateway.client(key, headers).rpc(name)
  return error === null ? roleIn(data) : `${status} ${error.code} ${error.message}`
}

function roleIn(data: unknown): string {
  return typeof data === 'object' && data !== null && 'role' in data
    ? String(data.role)
    : String(data)
}

/** As a script would call it: the key or token as Authorization, which is what verify_jwt reads. */
async function callGuarded({ key, token }: Credentials): Promise<string> {
  const bearer = token ?? key
  const response = await fetch(`${gateway.url}/functions/v1/guarded/x`, {
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
  })
  await response.body?.cancel()
  return [response.status, response.headers.get('sb-error-code')].filter(Boolean).join(' ')
}

Deno.test('the gateway hands claims to SQL and puts the role into them', async () => {
  const token = await gateway.keys.signUserJwt({ sub: 'u-1', app_metadata: { org_id: 'org-1' } })
  const client = gateway.client(gateway.keys.publishableKey, { authorization: `Bearer ${token}` })
  const { data } = await client.rpc('who')
  expect(data).toMatchObject({
    claims: { sub: 'u-1', role: 'authenticated', app_metadata: { org_id: 'org-1' } },
  })
})

Deno.test('the gateway says with WWW-Authenticate why a token was refused', async () => {
  const token = await gateway.keys.signUserJwt({ exp: now() - 60 })
  const response = await gateway.rpc('who', { headers: { authorization: `Bearer ${token}` } })
  await response.body?.cancel()
  expect(response.headers.get('www-authenticate')).toBe(
    'Bearer error="invalid_token", error_description="JWT expired"',
  )
})

Deno.test('supabase-js reaches a function with a secret key alone', async () => {
  const client = gateway.client(gateway.keys.secretKey)
  const { data, error } = await client.functions.invoke('echo/request', { body: { n: 1 } })
  expect(error).toBe(null)
  expect(data).toMatchObject({ path: '/echo/request', body: '{"n":1}' })
  expect(data.headers.apikey).toBe(gateway.keys.secretKey)
})

Deno.test('the gateway publishes the public signing key and never the shared secret', async () => {
  const response = await fetch(`${gateway.url}/auth/v1/.well-known/jwks.json`)
  const { keys } = await response.json()
  expect(keys.map((key: { kty: string }) => key.kty)).toEqual(['EC'])
  expect(JSON.stringify(keys)).not.toContain('"d"')
})
