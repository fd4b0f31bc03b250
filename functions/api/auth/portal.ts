import { type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { isScope, type Scope } from './scopes.ts'
import { clockSkewSeconds } from './tokens.ts'
import type { PortalToken } from './principal.ts'

/** The issuer of the tokens that this function signs itself. */
export const portalIssuer = 'outhook-portal'
const audience = 'outhook-api'

export type PortalClaims = PortalToken & {
  orgId: string
  scopes: readonly Scope[]
  subject: string
  /** Seconds since 1970. */
  issuedAt: number
  lifeSeconds: number
}

/** The claims of Outhook in a verified token. */
export const portalClaims = z.object({
  sub: z.string(),
  jti: z.string(),
  org_id: z.string(),
  scopes: z.array(z.custom<Scope>(isScope)),
  generation: z.int(),
  endpoint_ids: z.array(z.string()).nullable(),
  event_types: z.array(z.string()).nullable(),
})

/** Signs a token for one organisation with `secret`. */
export async function signPortalToken(claims: PortalClaims, secret: string): Promise<string> {
  return await new SignJWT({
    org_id: claims.orgId,
    scopes: claims.scopes,
    generation: claims.generation,
    endpoint_ids: claims.limits?.endpointIds ?? null,
    event_types: claims.limits?.eventTypes ?? null,
  })
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
        requiredClaims: ['exp', 'sub', 'jti', 'org_id', 'scopes', 'generation'],
      })
      return payload
    } catch {
      // One of the other secrets may be right.
    }
  }
  return null
}

/** The revocations of an organisation's portal tokens, as outbox.take_requests() returns them. */
export const revocationsSchema = z.object({
  generation: z.int(),
  revoked: z.array(z.string()),
})

export type Revocations = z.infer<typeof revocationsSchema>

/** Whether a token was revoked, by its id or with all tokens of its organisation. */
export function isRevoked(
  { id, generation }: PortalToken,
  revocations: Revocations,
): boolean {
  return generation < revocations.generation || revocations.revoked.includes(id)
}
