import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import type { NamedKey } from './auth/keys.ts'

/** A key travels in headers, and Deno repeats a header's value in the error over an invalid one. */
const key = z.string().regex(/^[\x21-\x7e]*$/, 'must be visible ASCII characters alone')

const namedKeys = z.string().optional().transform((text, context): NamedKey[] => {
  if (text === undefined || text === '') return []
  try {
    const keys = z.record(z.string(), key).parse(JSON.parse(text))
    return Object.entries(keys).map(([name, key]) => ({ name, key }))
  } catch {
    context.addIssue('must be a JSON object of names and keys')
    return z.NEVER
  }
})

const keyObject = z.looseObject({ kty: z.string() })
const jwks = z.string().optional().transform((text, context): JSONWebKeySet => {
  if (text === undefined || text === '') return { keys: [] }
  try {
    const read = z.union([z.array(keyObject), z.object({ keys: z.array(keyObject) })])
      .parse(JSON.parse(text))
    return Array.isArray(read) ? { keys: read } : read
  } catch {
    context.addIssue('must be a JSON Web Key Set')
    return z.NEVER
  }
})

const list = z.string().default('')
  .transform((text) => text.split(',').map((word) => word.trim()).filter((word) => word !== ''))

/** HS256 is as strong as its secret: RFC 7518 asks for 32 bytes. */
const portalSecrets = list.refine(
  (secrets) => secrets.every((secret) => secret.length >= 32),
  'must be at least 32 characters long; openssl rand -hex 32 makes one',
)

const variables = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEYS: namedKeys,
  SUPABASE_SERVICE_ROLE_KEY: key.default(''),
  SUPABASE_PUBLISHABLE_KEYS: namedKeys,
  SUPABASE_ANON_KEY: key.default(''),
  SUPABASE_JWKS: jwks,
  OUTHOOK_JWT_SECRET: z.string().optional(),
  OUTHOOK_JWT_ISSUER: list,
  OUTHOOK_PORTAL_SECRET: portalSecrets,
  OUTHOOK_API_CORS_ORIGINS: list,
  OUTHOOK_DEBUG: z.string().optional().transform((text) => text === '1' || text === 'true'),
})

/** What the function api reads from its environment. */
export type ApiEnvironment = {
  url: string
  /** What the database is called with. */
  key: string
  secretKeys: NamedKey[]
  publishableKeys: NamedKey[]
  jwks: JSONWebKeySet
  legacySecret: string | null
  issuers: string[]
  portalSecrets: string[]
  /** The web origins that may call from a browser; none: CORS is off. */
  corsOrigins: string[]
  debug: boolean
}

/** Reads the variables; throws naming the one that is wrong, never its value. */
export function readApiEnv(environment: Record<string, string | undefined>): ApiEnvironment {
  const read = variables.safeParse(environment)
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`Cannot start: ${issue?.path.join('.')} ${issue?.message}`)
  }
  const env = read.data
  const legacy = (name: string, key: string): NamedKey[] => key === '' ? [] : [{ name, key }]
  const secretKeys = [
    ...env.SUPABASE_SECRET_KEYS,
    ...legacy('service_role', env.SUPABASE_SERVICE_ROLE_KEY),
  ]
  const [first] = secretKeys
  if (first === undefined || first.key === '') {
    throw new Error(
      'Cannot start: neither SUPABASE_SECRET_KEYS nor SUPABASE_SERVICE_ROLE_KEY is set',
    )
  }
  const issuers = env.OUTHOOK_JWT_ISSUER
  return {
    url: env.SUPABASE_URL,
    key: first.key,
    secretKeys,
    publishableKeys: [...env.SUPABASE_PUBLISHABLE_KEYS, ...legacy('anon', env.SUPABASE_ANON_KEY)],
    jwks: env.SUPABASE_JWKS,
    legacySecret: env.OUTHOOK_JWT_SECRET ?? null,
    issuers: issuers.length > 0 ? issuers : [`${new URL(env.SUPABASE_URL).origin}/auth/v1`],
    portalSecrets: env.OUTHOOK_PORTAL_SECRET,
    corsOrigins: env.OUTHOOK_API_CORS_ORIGINS,
    debug: env.OUTHOOK_DEBUG,
  }
}
