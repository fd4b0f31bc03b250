import { ApiError } from '../errors.ts'

/** Each role includes the rights of the roles before it. */
export const roles = ['viewer', 'operator', 'admin'] as const

export type Role = typeof roles[number]

/** The caller, its organisation and its rights. */
export type Principal = {
  orgId: string
  role: Role
  /** For logs and audits: `key:default`, `user:<sub>`, `portal:<sub>`; never a secret. */
  actor: string
  kind: 'key' | 'user' | 'portal'
}

/** Whether `role` has the rights of `needed`. */
export function isEnough(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed)
}

/** The format of organisation ids, as in outbox.check_org(). */
export const orgIdForm = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/

/** Throws ApiError for a caller without a secret key; `what` starts the text: 'A channel is created'. */
export function requireKey({ kind }: Principal, what: string): void {
  if (kind === 'key') return
  throw new ApiError('forbidden', `${what} only with a secret key`, {
    remedy: 'Call from your backend, with the key and X-Org-Id',
  })
}
