/**
 * Identifies the caller: the replacement of API keys by the platform's gateway, then the token check of
 * PostgREST. Both decide only the database role of a call.
 */
import { compactVerify, errors, type JWTVerifyGetKey } from 'jose'
import type { StackKeys } from '../keys.ts'
import { RestFailure } from './failure.ts'
import { createKeyFinder } from './verifier.ts'

/** The role of a call, and the claims that its SQL may read. */
export interface Caller {
  role: string
  claims: Record<string, unknown>
}

/** Identifies a caller from its Authorization header, after the replacement of API keys. */
export type IdentifyCaller = (authorization: string | undefined) => Promise<Caller | RestFailure>

/** PostgREST accepts clocks that differ by up to 30 s. */
const CLOCK_SKEW_S = 30

/** How many verified tokens are cached; a stack normally has a few. */
const MAX_REMEMBERED = 1000

/**
 * The platform's rule for the Authorization header of PostgREST: a token stays, an `sb_…` key is replaced
 * with its legacy token, and any other `apikey` is passed on without `Bearer`, so PostgREST treats the call
 * as anonymous.
 */
export function swapApiKey(headers: Headers, keys: StackKeys): string | undefined {
  const authorization = headers.get('authorization')
  if (authorization !== null && !authorization.startsWith('Bearer sb_')) return authorization
  const apiKey = headers.get('apikey')
  if (apiKey === keys.secretKey) return `Bearer ${keys.serviceRoleKey}`
  if (apiKey === keys.publishableKey) return `Bearer ${keys.anonKey}`
  return apiKey ?? undefined
}

/** Creates the token check for a key set. It verifies a signature once per token, and its times at each call. */
export function createIdentifyCaller(jwks: StackKeys['jwks'], now = Date.now): IdentifyCaller {
  const keySet = createKeyFinder(jwks)
  const verified = new Map<string, Record<string, unknown>>()

  return async function identifyCaller(authorization): Promise<Caller | RestFailure> {
    const token = bearerToken(authorization)
    if (token === null) return { role: 'anon', claims: { role: 'anon' } }
    let claims = verified.get(token)
    if (claims === undefined) {
      const outcome = await verifyToken(token, keySet)
      if (outcome instanceof RestFailure) return outcome
      claims = outcome
      if (verified.size >= MAX_REMEMBERED) verified.clear()
      verified.set(token, claims)
    }
    const failure = checkTimes(claims, Math.floor(now() / 1000))
    if (failure !== null) return failure
    const role = typeof claims.role === 'string' ? claims.role : 'anon'
    return { role, claims: { ...claims, role } }
  }
}

function bearerToken(authorization: string | undefined): string | null {
  const [scheme = '', ...rest] = authorization?.split(' ') ?? []
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ').trim() : null
}

async function verifyToken(
  token: string,
  keySet: JWTVerifyGetKey,
): Promise<Record<string, unknown> | RestFailure> {
  if (token === '') return undecodable('Empty JWT is sent in Authorization header')
  const parts = token.split('.').length
  if (parts !== 3) return undecodable(`Expected 3 parts in JWT; got ${parts}`)
  let payload: Uint8Array
  try {
    payload = (await compactVerify(token, keySet, { algorithms: ['HS256', 'ES256'] })).payload
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error
    if (error instanceof errors.JOSEAlgNotAllowed) {
      return undecodable('Wrong or unsupported encoding algorithm')
    }
    return error instanceof errors.JWSInvalid
      ? undecodable("JWT couldn't be decoded")
      : undecodable(
        'No suitable key or wrong key type',
        'None of the keys was able to decode the JWT',
      )
  }
  const claims = parseClaims(payload)
  return claims ?? refusedClaims('Parsing claims failed')
}

function parseClaims(payload: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(payload))
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...value }
      : null
  } catch {
    return null
  }
}

function checkTimes(claims: Record<string, unknown>, nowS: number): RestFailure | null {
  for (const name of ['exp', 'nbf', 'iat']) {
    const value = claims[name]
    if (value !== undefined && typeof value !== 'number') {
      return refusedClaims(`The JWT '${name}' claim must be a number`)
    }
  }
  const { exp, nbf, iat } = claims
  if (typeof exp === 'number' && nowS > exp + CLOCK_SKEW_S) return refusedClaims('JWT expired')
  if (typeof nbf === 'number' && nowS < nbf - CLOCK_SKEW_S) {
    return refusedClaims('JWT not yet valid')
  }
  if (typeof iat === 'number' && nowS < iat - CLOCK_SKEW_S) {
    return refusedClaims('JWT issued at future')
  }
  return null
}

function undecodable(message: string, details: string | null = null): RestFailure {
  return new RestFailure(401, 'PGRST301', message, details, null, invalidToken(message))
}

function refusedClaims(message: string): RestFailure {
  return new RestFailure(401, 'PGRST303', message, null, null, invalidToken(message))
}

function invalidToken(message: string): Record<string, string> {
  return { 'www-authenticate': `Bearer error="invalid_token", error_description="${message}"` }
}
