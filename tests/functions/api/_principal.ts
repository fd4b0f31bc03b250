import type { MiddlewareHandler } from 'hono'
import type { Principal } from '../../../functions/api/auth/principal.ts'
import type { ApiEnv } from '../../../functions/api/context.ts'

/** Stands for authentication: the caller is a user without scopes, unless the test names another one. */
export function withPrincipal(more: Partial<Principal> = {}): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    c.set('principal', {
      orgId: 'org-1',
      scopes: new Set(),
      actor: 'user:anna',
      kind: 'user',
      portal: null,
      ...more,
    })
    await next()
  }
}
