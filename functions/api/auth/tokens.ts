import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose'

/** The most seconds between the clocks of issuer and function. */
export const clockSkewSeconds = 30

export type TokenOptions = {
  /** The keys in SUPABASE_JWKS; an `oct` key is the legacy secret. */
  jwks: JSONWebKeySet
  /** The URL of the project's current keys, fetched when a token names a key that is not in `jwks`. */
  jwksUrl: URL
  /** The legacy secret, if HS256 tokens are still accepted. */
  legacySecret: string | null
  issuers: string[]
  wallNow(): number
}

/**
 * The result of a check: the claims; or null for an invalid token; `unavailable` if the keys cannot be
 * fetched now.
 */
export type TokenCheck = { claims: JWTPayload } | { claims: null; unavailable: boolean }

const audience = 'authenticated'

/** The pause between two fetches of the keys, because forged tokens name keys that do not exist. */
const quietMs = 30_000
/** The pause after a failed fetch, which may succeed sooner. */
const quietAfterFailureMs = 5000

/** Creates the check of a user's token: ES256 or RS256, and HS256 only with a legacy secret. */
export function createTokenCheck(options: TokenOptions): (token: string) => Promise<TokenCheck> {
  const { jwks, jwksUrl, legacySecret, issuers, wallNow } = options
  const publicKeys = jwks.keys.filter(({ kty }) => kty === 'EC' || kty === 'RSA')
  const local = createLocalJWKSet({ keys: publicKeys })
  const remote = quietAfterFailure(
    createRemoteJWKSet(jwksUrl, {
      timeoutDuration: 3000,
      cooldownDuration: quietMs,
      [customFetch]: fetchKeys,
    }),
    wallNow,
  )
  const secrets = [
    ...jwks.keys.flatMap(({ kty, k }) => kty === 'oct' && k ? [decodeBase64Url(k)] : []),
    ...legacySecret === null ? [] : [new TextEncoder().encode(legacySecret)],
  ]

  const findKey: JWTVerifyGetKey = async (header, token) => {
    try {
      return await local(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      return await remote(header, token)
    }
  }

  return async function checkToken(token: string): Promise<TokenCheck> {
    const rules = {
      issuer: issuers,
      audience,
      clockTolerance: clockSkewSeconds,
      currentDate: new Date(wallNow()),
      requiredClaims: ['exp', 'sub', 'role'],
    }
    try {
      const { alg } = decodeProtectedHeader(token)
      if (alg !== 'HS256') {
        const algorithms = ['ES256', 'RS256']
        return { claims: (await jwtVerify(token, findKey, { ...rules, algorithms })).payload }
      }
    } catch (error) {
      return { claims: null, unavailable: publicKeys.length === 0 && isOutage(error) }
    }
    for (const secret of secrets) {
      try {
        const algorithms = ['HS256']
        return { claims: (await jwtVerify(token, secret, { ...rules, algorithms })).payload }
      } catch {
        // One of the other secrets may be right.
      }
    }
    return { claims: null, unavailable: false }
  }
}

/** Cancels the body of a failed response: jose does not read it, so the connection would stay open. */
async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options)
  if (response.status !== 200) await response.body?.cancel()
  return response
}

/** Adds a pause after a failed fetch: jose pauses only after a successful one. */
function quietAfterFailure(findKey: JWTVerifyGetKey, wallNow: () => number): JWTVerifyGetKey {
  let failed: { until: number; error: unknown } | null = null
  return async function findQuietly(header, token): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> {
    if (failed !== null && wallNow() < failed.until) throw failed.error
    try {
      return await findKey(header, token)
    } catch (error) {
      const wasFetched = error instanceof errors.JWKSNoMatchingKey ||
        error instanceof errors.JWKSMultipleMatchingKeys
      failed = wasFetched ? null : { until: wallNow() + quietAfterFailureMs, error }
      throw error
    }
  }
}

/** Whether jose could not fetch the keys; its errors about a token are other ones. */
function isOutage(error: unknown): boolean {
  return error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError) &&
      error instanceof TypeError && /fetch|network|connect|request/i.test(error.message)
}

function decodeBase64Url(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), charCodeOf)
}

function charCodeOf(character: string): number {
  return character.charCodeAt(0)
}
