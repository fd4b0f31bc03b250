import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import {
  flagVariable,
  keyVariable,
  listVariable,
  type NamedKey,
  namedKeysVariable,
  proxyAuthorizationVariable,
  readSecretKeys,
  readVariables,
  secretsVariable,
  transportVariable,
} from '../_shared/base/env.ts'

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

const variables = z.object({
  SUPABASE_URL: z.url(),
  SUPABASE_SECRET_KEYS: namedKeysVariable,
  SUPABASE_SERVICE_ROLE_KEY: keyVariable.default(''),
  SUPABASE_PUBLISHABLE_KEYS: namedKeysVariable,
  SUPABASE_ANON_KEY: keyVariable.default(''),
  SUPABASE_JWKS: jwks,
  OUTHOOK_JWT_SECRET: z.string().optional(),
  OUTHOOK_JWT_ISSUER: listVariable,
  OUTHOOK_PORTAL_SECRET: secretsVariable,
  OUTHOOK_WHATSAPP_VERIFY_SECRET: secretsVariable,
  OUTHOOK_API_CORS_ORIGINS: listVariable,
  OUTHOOK_TRANSPORT: transportVariable,
  OUTHOOK_PROXY_AUTHORIZATION: proxyAuthorizationVariable,
  OUTHOOK_DEBUG: flagVariable,
})

export type ApiEnvironment = {
  url: string
  /** The key for calls to the database. */
  key: string
  secretKeys: NamedKey[]
  publishableKeys: NamedKey[]
  jwks: JSONWebKeySet
  legacySecret: string | null
  issuers: string[]
  portalSecrets: string[]
  /** Secrets of WhatsApp's verify tokens. */
  verifySecrets: string[]
  /** The web origins that may call from a browser; an empty list: CORS is off. */
  corsOrigins: string[]
  transport: 'http1' | 'fetch'
  proxyAuthorization: string | undefined
  debug: boolean
}

/** Reads the variables; throws an error that names the invalid one, never its value. */
export function readApiEnv(environment: Record<string, string | undefined>): ApiEnvironment {
  const env = readVariables(variables, environment)
  const secretKeys = readSecretKeys(env)
  const anon = env.SUPABASE_ANON_KEY
  const issuers = env.OUTHOOK_JWT_ISSUER
  return {
    url: env.SUPABASE_URL,
    key: secretKeys[0].key,
    secretKeys,
    publishableKeys: [
      ...env.SUPABASE_PUBLISHABLE_KEYS,
      ...anon === '' ? [] : [{ name: 'anon', key: anon }],
    ],
    jwks: env.SUPABASE_JWKS,
    legacySecret: env.OUTHOOK_JWT_SECRET ?? null,
    issuers: issuers.length > 0 ? issuers : [`${new URL(env.SUPABASE_URL).origin}/auth/v1`],
    portalSecrets: env.OUTHOOK_PORTAL_SECRET,
    verifySecrets: env.OUTHOOK_WHATSAPP_VERIFY_SECRET,
    corsOrigins: env.OUTHOOK_API_CORS_ORIGINS,
    transport: env.OUTHOOK_TRANSPORT,
    proxyAuthorization: env.OUTHOOK_PROXY_AUTHORIZATION,
    debug: env.OUTHOOK_DEBUG,
  }
}
