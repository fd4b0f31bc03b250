import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { clockSkewSeconds } from './tokens.ts'
import type { Role } from './principal.ts'

/** The issuer of the tokens that this function signs itself. */
export const portalIssuer = 'outhook-portal'
const audience = 'outhook-api'

export type PortalClaims = {
  orgId: string
  role: Exclude<Role, 'admin'>
  subject: string
  /** A UUID. */
  id: string
  /** Seconds since 1970. */
  issuedAt: number
  lifeSeconds: number
}

/** Signs a token for one organisation with `secret`. */
export async function signPortalToken(claims: PortalClaims, secret: string): Promise<string> {
  return await new SignJWT({ org_id: claims.orgId, outhook_role: claims.role })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(portalIssuer)
    .setAudience(audience)
    .setSubject(claims.subject)
    .setJti(claims.id)
    .setIssuedAt(claims.issuedAt)
    .setExpirationTime(claims.issuedAt + claims.lifeSeconds)
    .sign(new TextEncoder().encode(secret))
}

/** The claims of a portal token signed with one of the secrets; null if it is invalid. */
export async function checkPortalToken(
  token: string,
  secrets: readonly string[],
  now: number,
): Promise<JWTPayload | null> {
  for (const secret of secrets) {
    try {
      const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), {
        algorithms: ['HS256'],
        issuer: portalIssuer,
        audience,
        clockTolerance: clockSkewSeconds,
        currentDate: new Date(now),
        requiredClaims: ['exp', 'sub', 'org_id', 'outhook_role'],
      })
      return payload
    } catch {
      // One of the other secrets may be right.
    }
  }
  return null
}
