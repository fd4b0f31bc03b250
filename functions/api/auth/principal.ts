import { ApiError } from '../errors.ts'

/** What a caller may do; each role may do all that the ones before it may. */
export const roles = ['viewer', 'operator', 'admin'] as const

export type Role = typeof roles[number]

/** Who calls, for which organisation, with which rights. */
export type Principal = {
  orgId: string
  role: Role
  /** For logs and audits: `key:default`, `user:<sub>`, `portal:<sub>`. Never a secret. */
  actor: string
  kind: 'key' | 'user' | 'portal'
}

/** Whether a caller's role is enough for what asks for `needed`. */
export function isEnough(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** The form of an organisation's id, as outbox.check_org() has it. */
export const orgIdForm = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/

/** Refuses a caller without a secret key; `what` begins the sentence: 'A channel is created'. */
export function requireKey({ kind }: Principal, what: string): void {
  if (kind === 'key') return
  throw new ApiError('forbidden', `${what} with a secret key alone`, {
    remedy: 'Call from your backend, with the key and X-Org-Id',
  })
}
