import { expect } from '@std/expect'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { createAuthenticate } from '../../../functions/api/auth/authenticate.ts'
import { type PortalClaims, signPortalToken } from '../../../functions/api/auth/portal.ts'
import type { Principal } from '../../../functions/api/auth/principal.ts'
import { allScopes } from '../../../functions/api/auth/scopes.ts'
import { createTokenCheck } from '../../../functions/api/auth/tokens.ts'
import { ApiError } from '../../../functions/api/errors.ts'

const now = Date.UTC(2026, 10, 28)
const seconds = now / 1000
const issuer = 'https://project.example/auth/v1'
const portalSecret = 'p'.repeat(40)
const oldPortalSecret = 'o'.repeat(40)
const legacySecret = 'l'.repeat(40)

/** As jose names it: the types of Node and Deno for it differ. */
type SigningKey = Awaited<ReturnType<typeof generateKeyPair>>['privateKey']

async function newKey(kid: string, alg = 'ES256'): Promise<{ jwk: JWK; sign: SigningKey }> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { jwk: { ...await exportJWK(publicKey), kid, alg }, sign: privateKey }
}

const first = await newKey('first')
const rsa = await newKey('rsa', 'RS256')
const stranger = await newKey('first')

/** Authenticates with the keys `first` and `rsa`, the others where Auth publishes them now. */
async function withAuth(
  published: JWK[],
  use: (ask: (headers: Record<string, string>) => Promise<Principal | string>) => Promise<void>,
  detailed = false,
): Promise<void> {
  const server = Deno.serve(
    { port: 0, hostname: '127.0.0.1', onListen: () => {} },
    () => Response.json({ keys: published }),
  )
  const authenticate = createAuthenticate({
    secretKeys: [{ name: 'one', key: 'sb_secret_one' }, { name: 'two', key: 'sb_secret_two' }],
    publishableKeys: [{ name: 'anon', key: 'sb_publishable_x' }],
    portalSecrets: [portalSecret, oldPortalSecret],
    jwks: { keys: [first.jwk, rsa.jwk] },
    jwksUrl: new URL(`http://127.0.0.1:${server.addr.port}/jwks.json`),
    legacySecret: null,
    issuers: [issuer],
    wallNow: () => now,
  })
  try {
    await use(async (headers) => {
      try {
        return await authenticate(new Headers(headers))
      } catch (error) {
        if (error instanceof ApiError) return detailed ? error.message : error.code
        throw error
      }
    })
  } finally {
    await server.shutdown()
  }
}

type Change = {
  claims?: JWTPayload
  /** A claim that is left out. */
  without?: string
  header?: Record<string, unknown>
  key?: SigningKey | Uint8Array
}

async function token(
  { claims = {}, without = '', header = {}, key = first.sign }: Change = {},
): Promise<string> {
  const all: JWTPayload = {
    iss: issuer,
    aud: 'authenticated',
    sub: 'ada',
    role: 'authenticated',
    iat: seconds,
    exp: seconds + 3600,
    app_metadata: { org_id: 'org-1', outhook_scopes: ['events:read', 'deliveries:read'] },
    ...claims,
  }
  delete all[without]
  return await new SignJWT(all)
    .setProtectedHeader({ alg: 'ES256', kid: 'first', ...header }).sign(key)
}

function portalToken({ claims = {}, ...more }: Change = {}): Promise<string> {
  return token({
    header: { alg: 'HS256' },
    key: new TextEncoder().encode(portalSecret),
    claims: {
      iss: 'outhook-portal',
      aud: 'outhook-api',
      jti: tokenId,
      org_id: 'org-1',
      scopes: ['events:read'],
      generation: 3,
      endpoint_ids: null,
      event_types: null,
      ...claims,
    },
    ...more,
  })
}

function encode(value: unknown): string {
  return btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

const tokenId = '0191b0a0-0000-7000-8000-000000000001'
const ada = {
  orgId: 'org-1',
  scopes: new Set(['events:read', 'deliveries:read']),
  actor: 'user:ada',
  kind: 'user',
  portal: null,
  expiresAt: seconds + 3600,
}
const portalAda = {
  orgId: 'org-1',
  scopes: new Set(['events:read']),
  actor: 'portal:ada',
  kind: 'portal',
  portal: { id: tokenId, generation: 3, limits: null },
  expiresAt: seconds + 3600,
}
const refused = 'unauthenticated'
const publicKeyText = JSON.stringify(first.jwk)

type Case = [what: string, made: () => Promise<string>, expected: unknown]

const cases: Case[] = [
  ['a valid one', () => token(), ada],
  ['RS256', () => token({ header: { alg: 'RS256', kid: 'rsa' }, key: rsa.sign }), ada],
  ['alg none', async () => {
    const [, claims] = (await token()).split('.')
    return `${encode({ alg: 'none', typ: 'JWT' })}.${claims}.`
  }, refused],
  [
    'HS256 with the public key as its secret',
    () => token({ header: { alg: 'HS256' }, key: new TextEncoder().encode(publicKeyText) }),
    refused,
  ],
  [
    'HS256 where no legacy secret is configured',
    () => token({ header: { alg: 'HS256' }, key: new TextEncoder().encode(legacySecret) }),
    refused,
  ],
  ['the key of a stranger under a known kid', () => token({ key: stranger.sign }), refused],
  ['a kid that nobody publishes', () => token({ header: { kid: 'nobody' } }), refused],
  ['another issuer', () => token({ claims: { iss: 'https://evil.example/auth/v1' } }), refused],
  ['no issuer', () => token({ without: 'iss' }), refused],
  ['another audience', () => token({ claims: { aud: 'anon' } }), refused],
  ['no end', () => token({ without: 'exp' }), refused],
  ['an end 31 s ago', () => token({ claims: { exp: seconds - 31 } }), refused],
  ['an end 29 s ago, which is skew', () => token({ claims: { exp: seconds - 29 } }), {
    ...ada,
    expiresAt: seconds - 29,
  }],
  ['a beginning in 31 s', () => token({ claims: { nbf: seconds + 31 } }), refused],
  ['a beginning in 29 s', () => token({ claims: { nbf: seconds + 29 } }), ada],
  ['the role anon', () => token({ claims: { role: 'anon' } }), refused],
  ['the role service_role', () => token({ claims: { role: 'service_role' } }), refused],
  ['claims that were changed', async () => {
    const [header, , signature] = (await token()).split('.')
    return `${header}.${encode({ iss: issuer, sub: 'eve', role: 'authenticated' })}.${signature}`
  }, refused],
  ['no JWT at all', () => Promise.resolve('abc'), refused],
  [
    'an org and scopes in user_metadata alone',
    () =>
      token({
        claims: { app_metadata: {}, user_metadata: { org_id: 'org-1', outhook_scopes: ['all'] } },
      }),
    'forbidden',
  ],
  [
    'user_metadata and no app_metadata at all',
    () =>
      token({
        claims: { user_metadata: { org_id: 'org-1', outhook_scopes: ['all'] } },
        without: 'app_metadata',
      }),
    'forbidden',
  ],
  [
    'scopes in user_metadata beside an org, which count for nothing',
    () =>
      token({
        claims: { app_metadata: { org_id: 'org-1' }, user_metadata: { outhook_scopes: ['all'] } },
      }),
    { ...ada, scopes: new Set() },
  ],
  [
    'a scope that does not exist',
    () => token({ claims: { app_metadata: { org_id: 'org-1', outhook_scopes: ['root'] } } }),
    'forbidden',
  ],
  [
    'a scope that is a member of every object',
    () => token({ claims: { app_metadata: { org_id: 'org-1', outhook_scopes: ['toString'] } } }),
    'forbidden',
  ],
  ...([
    ['an object as a scope', [{ toString: 1, valueOf: 1 }]],
    ['an object for scopes', { toString: 'all' }],
    ['a number for scopes', 7],
    ['true for scopes', true],
    ['null for scopes', null],
    ['scopes in a list of a list', [['all']]],
    ['a list of 3,000 levels as a scope', JSON.parse('['.repeat(3000) + ']'.repeat(3000))],
    ['the scope __proto__', ['events:read', '__proto__']],
    ['an empty text as a scope', ['']],
    ['the scope *', ['*']],
    ['a scope in capitals', ['EVENTS:READ']],
  ] as [string, unknown][]).map(([what, outhook_scopes]): Case => [
    what,
    () => token({ claims: { app_metadata: { org_id: 'org-1', outhook_scopes } } }),
    'forbidden',
  ]),
  ...([
    ['an object as its org', { org_id: { toString: 'org-1' } }],
    ['a list as its org', { org_id: ['org-1'] }],
    ['the org outhook in a list', { org_ids: ['outhook'] }],
    ['an object for its orgs', { org_ids: { 0: 'org-1', length: 1 } }],
    ['orgs in a list of a list', { org_ids: [['org-1']] }],
    ['an org with a line break', { org_id: 'org-1\n' }],
  ] as [string, Record<string, unknown>][]).map(([what, orgs]): Case => [
    what,
    () => token({ claims: { app_metadata: { ...orgs, outhook_scopes: ['all'] } } }),
    'forbidden',
  ]),
  [
    '4,000 times the same org and scope',
    () =>
      token({
        claims: {
          app_metadata: {
            org_ids: Array(4000).fill('org-1'),
            outhook_scopes: Array(4000).fill('events:read'),
          },
        },
      }),
    { ...ada, scopes: new Set(['events:read']) },
  ],
  [
    'the org outhook beside its own',
    () =>
      token({
        claims: {
          app_metadata: { org_ids: ['outhook', 'org-1'], outhook_scopes: ['events:read'] },
        },
      }),
    { ...ada, scopes: new Set(['events:read']) },
  ],
  [
    'scopes as one text',
    () => token({ claims: { app_metadata: { org_id: 'org-1', outhook_scopes: 'events:read' } } }),
    { ...ada, scopes: new Set(['events:read']) },
  ],
  [
    'the set customer-page and a scope',
    () =>
      token({
        claims: {
          app_metadata: { org_id: 'org-1', outhook_scopes: ['customer-page', 'health:read'] },
        },
      }),
    {
      ...ada,
      scopes: new Set([
        ...['endpoints:read', 'endpoints:write', 'secrets:read', 'secrets:write'],
        ...['events:read', 'event-types:read', 'deliveries:read', 'deliveries:replay'],
        'health:read',
      ]),
    },
  ],
  [
    'the set all',
    () => token({ claims: { app_metadata: { org_id: 'org-1', outhook_scopes: ['all'] } } }),
    { ...ada, scopes: new Set(allScopes) },
  ],
  [
    'the org outhook',
    () => token({ claims: { app_metadata: { org_id: 'outhook', outhook_scopes: ['all'] } } }),
    'forbidden',
  ],
  [
    'a portal token with a scope that does not exist',
    () => portalToken({ claims: { scopes: ['events:read', 'root'] } }),
    refused,
  ],
  ['a portal token as it should be', () => portalToken(), portalAda],
  [
    'a portal token with limits',
    () => portalToken({ claims: { endpoint_ids: [tokenId], event_types: ['a.*'] } }),
    {
      ...portalAda,
      portal: {
        ...portalAda.portal,
        limits: { endpointIds: [tokenId], eventTypes: ['a.*'] },
      },
    },
  ],
  ['a portal token without an id', () => portalToken({ without: 'jti' }), refused],
  ['a portal token without a generation', () => portalToken({ without: 'generation' }), refused],
  ['a portal token without its limits', () => portalToken({ without: 'endpoint_ids' }), refused],
  ['a portal token without an end', () => portalToken({ without: 'exp' }), refused],
  [
    'a portal token for another audience',
    () => portalToken({ claims: { aud: 'outhook-other' } }),
    refused,
  ],
  ['a portal token with the older of two secrets', () =>
    portalToken({
      key: new TextEncoder().encode(oldPortalSecret),
    }), portalAda],
  [
    'a portal token for the org outhook',
    () =>
      signPortalToken(
        { orgId: 'outhook', ...mark(now), lifeSeconds: 60 },
        portalSecret,
      ),
    'forbidden',
  ],
  [
    'a portal token with another secret',
    () =>
      signPortalToken(
        { orgId: 'org-1', ...mark(now), lifeSeconds: 60 },
        'q'.repeat(40),
      ),
    refused,
  ],
  [
    'a portal token that has ended',
    () =>
      signPortalToken(
        { orgId: 'org-1', ...mark(now - 100_000), lifeSeconds: 60 },
        portalSecret,
      ),
    refused,
  ],
]

for (const [what, made, expected] of cases) {
  Deno.test(`authenticate() of a token with ${what}`, async () => {
    await withAuth([], async (ask) => {
      expect(await ask({ authorization: `Bearer ${await made()}` })).toEqual(expected)
    })
  })
}

Deno.test('authenticate() takes a key that was rotated in while it runs', async () => {
  const second = await newKey('second')
  await withAuth([first.jwk, second.jwk], async (ask) => {
    const made = await token({ header: { kid: 'second' }, key: second.sign })
    expect(await ask({ authorization: `Bearer ${made}` })).toEqual(ada)
    expect(await ask({ authorization: `Bearer ${await token()}` })).toEqual(ada)
  })
})

Deno.test('authenticate() says which credentials were sent when they prove nothing', async () => {
  await withAuth([], async (ask) => {
    expect(await ask({})).toBe('The request has no credentials')
    const publishable = 'The key in the apikey header is publishable and grants no access'
    const apikey = 'sb_publishable_x'
    expect(await ask({ apikey })).toBe(publishable)
    expect(await ask({ apikey, authorization: `Bearer ${apikey}` })).toBe(publishable)
  }, true)
})

Deno.test('authenticate() of keys: any secret one, never a publishable one or part of one', async () => {
  await withAuth([], async (ask) => {
    const admin = {
      orgId: 'default',
      scopes: new Set(allScopes),
      actor: 'key:two',
      kind: 'key',
      portal: null,
    }
    expect(await ask({ apikey: 'sb_secret_two' })).toEqual(admin)
    expect(await ask({ apikey: 'sb_secret_two', 'x-org-id': 'org-9' }))
      .toEqual({ ...admin, orgId: 'org-9' })
    expect(await ask({ authorization: 'Bearer sb_secret_two' })).toEqual(admin)
    for (const apikey of ['sb_secret_', 'sb_secret_two2', '', 'sb_publishable_x']) {
      expect([apikey, await ask({ apikey })]).toEqual([apikey, refused])
    }
    expect(await ask({})).toBe(refused)
    expect(await ask({ authorization: 'Basic eDp5' })).toBe(refused)
  })
})

Deno.test('authenticate() takes the person in X-Outhook-Actor from a secret key', async () => {
  await withAuth([], async (ask) => {
    const actorOf = async (person: string): Promise<unknown> => {
      const asked = await ask({ apikey: 'sb_secret_two', 'x-outhook-actor': person })
      return typeof asked === 'string' ? asked : asked.actor
    }
    const longest = 'a'.repeat(100)
    for (const person of ['anna', 'Anna.B+c@example.com', 'user:8f2c-1', longest]) {
      expect(await actorOf(person)).toBe(`key:two:${person}`)
    }
    // Two headers arrive as one with a comma.
    const wrong = [
      `${longest}a`,
      'a'.repeat(10_000),
      'a b',
      'a, b',
      'a,b',
      'a\tb',
      '\u00e9',
      '"',
      '%',
    ]
    for (const person of ['', ...wrong]) {
      expect([person, await actorOf(person)]).toEqual([person, 'invalid_argument'])
    }
  })
})

Deno.test('authenticate() of a token is of its own person, whatever X-Outhook-Actor has', async () => {
  await withAuth([], async (ask) => {
    for (const person of ['user:boss', 'key:default', 'a b', '', 'a'.repeat(10_000)]) {
      const headers = { 'x-outhook-actor': person }
      expect(await ask({ ...headers, authorization: `Bearer ${await token()}` })).toEqual(ada)
      expect(await ask({ ...headers, authorization: `Bearer ${await portalToken()}` }))
        .toEqual(portalAda)
    }
  })
})

Deno.test('authenticate() lets nothing invalid pass beside what is valid', async () => {
  await withAuth([], async (ask) => {
    const valid = await token()
    expect(await ask({ apikey: 'sb_secret_two', authorization: 'Bearer a.b.c' })).toBe(refused)
    expect(await ask({ apikey: 'wrong', authorization: `Bearer ${valid}` })).toBe(refused)
    expect(await ask({ apikey: 'sb_publishable_x', authorization: `Bearer ${valid}` })).toEqual(ada)
  })
})

Deno.test("authenticate() takes X-Org-Id only among the token's own organisations", async () => {
  await withAuth([], async (ask) => {
    const one = `Bearer ${await token()}`
    expect(await ask({ authorization: one, 'x-org-id': 'org-1' })).toEqual(ada)
    expect(await ask({ authorization: one, 'x-org-id': 'org-2' })).toBe('forbidden')
    const app_metadata = { org_ids: ['org-2', 'org-3', 'outhook'], outhook_scopes: ['health:read'] }
    const several = `Bearer ${await token({ claims: { app_metadata } })}`
    expect(await ask({ authorization: several })).toBe('invalid_argument')
    expect(await ask({ authorization: several, 'x-org-id': 'org-3' }))
      .toEqual({ ...ada, orgId: 'org-3', scopes: new Set(['health:read']) })
    expect(await ask({ authorization: several, 'x-org-id': 'outhook' })).toBe('forbidden')
  })
})

Deno.test('createTokenCheck() distinguishes keys that cannot be fetched from an invalid token', async () => {
  const options = {
    // Nothing listens there.
    jwksUrl: new URL('http://127.0.0.1:1/jwks.json'),
    legacySecret: null,
    issuers: [issuer],
    wallNow: () => now,
  }
  const secret = { kty: 'oct', k: btoa(legacySecret).replaceAll('=', ''), alg: 'HS256' }
  for (const keys of [[], [secret]]) {
    const check = createTokenCheck({ ...options, jwks: { keys } })
    expect(await check(await token())).toEqual({ claims: null, unavailable: true })
  }
  const known = createTokenCheck({ ...options, jwks: { keys: [first.jwk] } })
  expect(await known(await token({ key: stranger.sign })))
    .toEqual({ claims: null, unavailable: false })
})

function mark(at: number): Omit<PortalClaims, 'orgId' | 'lifeSeconds'> {
  return {
    id: crypto.randomUUID(),
    issuedAt: Math.floor(at / 1000),
    scopes: ['events:read'],
    subject: 's',
    generation: 0,
    limits: null,
  }
}

Deno.test('tokens with unknown keys cause one fetch of the keys, whether it fails or not', async () => {
  for (const status of [200, 500]) {
    let fetches = 0
    let wallNow = now
    const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, () => {
      fetches++
      return status === 200 ? Response.json({ keys: [] }) : new Response(null, { status })
    })
    const authenticate = createAuthenticate({
      secretKeys: [],
      publishableKeys: [],
      portalSecrets: [],
      jwks: { keys: [first.jwk] },
      jwksUrl: new URL(`http://127.0.0.1:${server.addr.port}/jwks.json`),
      legacySecret: null,
      issuers: [issuer],
      wallNow: () => wallNow,
    })
    const forge = async (kid: string): Promise<unknown> => {
      const token = await new SignJWT({ role: 'authenticated' })
        .setProtectedHeader({ alg: 'ES256', kid }).setIssuer(issuer).setAudience('authenticated')
        .setSubject('u').setExpirationTime(seconds + 60).sign(stranger.sign)
      return await authenticate(new Headers({ authorization: `Bearer ${token}` }))
        .catch((error) => error instanceof ApiError ? error.code : error)
    }
    for (let n = 0; n < 20; n++) expect(await forge(`kid-${n}`)).toBe('unauthenticated')
    expect([status, fetches]).toEqual([status, 1])
    wallNow += 6000
    await forge('later')
    expect([status, fetches]).toEqual([status, status === 200 ? 1 : 2])
    await server.shutdown()
  }
})
