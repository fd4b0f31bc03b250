import type { Scope } from './scopes.ts'
import type { TokenLimits } from './token_limits.ts'

/** The caller, its organisation and its rights. */
export type Principal = {
  orgId: string
  scopes: ReadonlySet<Scope>
  /**
   * For logs and audits: `key:default`, `key:default:anna` if it named a person, `user:<sub>`,
   * `portal:<sub>`; never a secret.
   */
  actor: string
  kind: 'key' | 'user' | 'portal'
  /** The portal token; null for other callers. */
  portal: PortalToken | null
  /** When the token expires, in seconds since 1970; a secret key does not expire. */
  expiresAt?: number
}

/** The id and the generation by which a portal token is revoked, and its limits. */
export type PortalToken = {
  /** A UUID. */
  id: string
  /** How often all tokens of the organisation had been revoked when this one was created. */
  generation: number
  /** null: all objects of the organisation. */
  limits: TokenLimits | null
}

/** The format of organisation ids, as in outbox.check_org(). */
export const orgIdForm = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/

/** The format of a person in X-Outhook-Actor. A comma would be a second header. */
export const personForm = /^[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,99}$/
