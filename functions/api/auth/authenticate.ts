import { decodeJwt, type JWTPayload } from 'jose'
import { ApiError } from '../errors.ts'
import type { NamedKey } from '../../_shared/base/env.ts'
import { createKeyLookup } from './keys.ts'
import { checkPortalToken, portalClaims, portalIssuer } from './portal.ts'
import { orgIdForm, personForm, type Principal } from './principal.ts'
import { allScopes, readScopes } from './scopes.ts'
import { createTokenCheck, type TokenOptions } from './tokens.ts'

export type AuthOptions = TokenOptions & {
  /** Keys with all rights. */
  secretKeys: readonly NamedKey[]
  /** Public keys: they prove nothing, and a client sends them together with its token. */
  publishableKeys: readonly NamedKey[]
  portalSecrets: readonly string[]
}

const systemOrg = 'outhook'

/**
 * Creates the check of a request's credentials: a secret key in `apikey`, or a token in
 * `Authorization`. An invalid credential is refused even if there is a valid one. Throws ApiError.
 */
export function createAuthenticate(
  options: AuthOptions,
): (headers: Headers) => Promise<Principal> {
  const secretKey = createKeyLookup(options.secretKeys)
  const publishableKey = createKeyLookup(options.publishableKeys)
  const checkToken = createTokenCheck(options)

  return async function authenticate(headers: Headers): Promise<Principal> {
    const org = readOrgHeader(headers.get('x-org-id'))
    const apikey = headers.get('apikey')
    const keyName = apikey === null ? null : secretKey(apikey)
    if (apikey !== null && keyName === null && publishableKey(apikey) === null) {
      throw unauthenticated('The key in the apikey header does not belong to this project')
    }
    const bearer = readBearer(headers.get('authorization'))
    // Supabase clients repeat their key as a token when no user is logged in.
    const bearerKey = bearer === null ? null : secretKey(bearer)
    if (bearerKey !== null) return keyPrincipal(bearerKey, org, headers)
    if (bearer === null || bearer === apikey) {
      if (keyName !== null) return keyPrincipal(keyName, org, headers)
      const detail = apikey === null
        ? 'The request has no credentials'
        : 'The key in the apikey header is publishable and grants no access'
      throw unauthenticated(detail, {
        remedy: 'Send a secret key in the header apikey, or a token as Authorization: Bearer …',
      })
    }
    return await readToken(bearer, org)
  }

  async function readToken(token: string, org: string | null): Promise<Principal> {
    let issuer: string | undefined
    try {
      issuer = decodeJwt(token).iss
    } catch {
      throw unauthenticated('The token is not a JWT')
    }
    if (issuer === portalIssuer) {
      const claims = await checkPortalToken(token, options.portalSecrets, options.wallNow())
      if (claims === null) throw invalidToken()
      return portalPrincipal(claims, org)
    }
    const check = await checkToken(token)
    if (check.claims === null) {
      if (check.unavailable) {
        throw new ApiError('unavailable', 'The keys that verify tokens cannot be fetched now')
      }
      throw invalidToken()
    }
    if (check.claims.role !== 'authenticated') throw invalidToken()
    // Users can write user_metadata, so nothing in it is read.
    return userPrincipal(check.claims, asRecord(check.claims.app_metadata), org)
  }
}

/** Only whoever has a secret key names a person: a token is of one, whom no header changes. */
function keyPrincipal(name: string, org: string | null, headers: Headers): Principal {
  const person = readPersonHeader(headers.get('x-outhook-actor'))
  return {
    orgId: org ?? 'default',
    scopes: new Set(allScopes),
    actor: person === null ? `key:${name}` : `key:${name}:${person}`,
    kind: 'key',
    portal: null,
  }
}

/** Without `outhook_scopes` a user may do nothing: most users of a project do not use Outhook. */
function userPrincipal(
  { sub, exp }: JWTPayload,
  claims: Record<string, unknown>,
  org: string | null,
): Principal {
  const { outhook_scopes: names = [] } = claims
  const read = readScopes(Array.isArray(names) ? names : [names])
  if (read.scopes === null) {
    throw new ApiError('forbidden', `The scope ${read.unknown} in the token does not exist`, {
      field: 'outhook_scopes',
      remedy: 'Set app_metadata.outhook_scopes to an array of scopes, such as ["customer-page"]',
    })
  }
  const orgId = pickOrg(claims, org)
  return {
    orgId,
    scopes: read.scopes,
    actor: `user:${sub}`,
    kind: 'user',
    portal: null,
    ...expiryOf(exp),
  }
}

function portalPrincipal(payload: JWTPayload, org: string | null): Principal {
  const read = portalClaims.safeParse(payload)
  // A token of another version of this function.
  if (!read.success) throw invalidToken()
  const { sub, jti, org_id, scopes, generation, endpoint_ids, event_types } = read.data
  const limits = endpoint_ids === null && event_types === null
    ? null
    : { endpointIds: endpoint_ids, eventTypes: event_types }
  return {
    orgId: pickOrg({ org_id }, org),
    scopes: new Set(scopes),
    actor: `portal:${sub}`,
    kind: 'portal',
    portal: { id: jti, generation, limits },
    ...expiryOf(payload.exp),
  }
}

function expiryOf(exp: number | undefined): { expiresAt?: number } {
  return exp === undefined ? {} : { expiresAt: exp }
}

function pickOrg(claims: Record<string, unknown>, asked: string | null): string {
  const { org_id: one, org_ids: several } = claims
  const own = [one, ...Array.isArray(several) ? several : []].filter(isOrgId)
  const [first] = own
  if (first === undefined) {
    throw new ApiError('forbidden', 'The token has no organisation', {
      remedy: 'Set app_metadata.org_id or app_metadata.org_ids of the user',
    })
  }
  if (asked !== null) {
    if (own.includes(asked)) return asked
    throw new ApiError('forbidden', 'The token does not belong to the organisation in X-Org-Id')
  }
  if (isOrgId(one) || new Set(own).size === 1) return first
  throw new ApiError('invalid_argument', 'The token belongs to several organisations', {
    field: 'X-Org-Id',
    remedy: 'Send the organisation in the header X-Org-Id',
  })
}

function isOrgId(value: unknown): value is string {
  return typeof value === 'string' && orgIdForm.test(value) && value !== systemOrg
}

function readOrgHeader(value: string | null): string | null {
  if (value === null || orgIdForm.test(value)) return value
  throw new ApiError('invalid_argument', 'X-Org-Id is not a valid organisation id', {
    field: 'X-Org-Id',
    remedy: 'Expected 1 to 64 letters, digits, _ . : -, such as org-123',
  })
}

function readPersonHeader(value: string | null): string | null {
  if (value === null || personForm.test(value)) return value
  throw new ApiError('invalid_argument', 'X-Outhook-Actor is not a valid name of a person', {
    field: 'X-Outhook-Actor',
    remedy: 'Expected once, with 1 to 100 letters, digits, _ . : @ + -, such as anna@example.com',
  })
}

function readBearer(header: string | null): string | null {
  if (header === null) return null
  const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(header) ?? []
  if (token === undefined) {
    throw unauthenticated('The Authorization header is not Bearer followed by a token')
  }
  return token
}

function unauthenticated(detail: string, more: { remedy?: string } = {}): ApiError {
  return new ApiError('unauthenticated', detail, {
    ...more,
    headers: { 'www-authenticate': 'Bearer' },
  })
}

/** The same error for every reason, because the reason would help a forger. */
function invalidToken(): ApiError {
  return unauthenticated('The token is not valid: wrong signature or issuer, or expired')
}

function asRecord(value: unknown): Record<string, unknown> {
  // SAFETY: an object that is not an array has string keys and values of any type.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {}
}
