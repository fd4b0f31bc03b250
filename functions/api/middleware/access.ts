import type { MiddlewareHandler } from 'hono'
import { isEnough, type Principal, type Role } from '../auth/principal.ts'
import type { ApiEnv } from '../context.ts'
import { ApiError } from '../errors.ts'

/** Adds the caller to the context, or refuses the request without reading its body. */
export function authenticated(
  authenticate: (headers: Headers) => Promise<Principal>,
): MiddlewareHandler<ApiEnv> {
  return async function findPrincipal(c, next): Promise<void> {
    try {
      c.set('principal', await authenticate(c.req.raw.headers))
    } catch (error) {
      await c.req.raw.body?.cancel().catch(() => {})
      throw error
    }
    await next()
  }
}

/** Refuses a caller whose role is not enough. */
export function requireRole(needed: Role): MiddlewareHandler<ApiEnv> {
  return async function checkRole(c, next): Promise<void> {
    const { role, kind } = c.get('principal')
    if (!isEnough(role, needed)) {
      throw new ApiError('forbidden', `This needs the role ${needed}, and the token has ${role}`, {
        remedy: kind === 'portal'
          ? 'A portal token is viewer or operator; an admin calls with a secret key or a token of a user'
          : 'The role is in the token, as app_metadata.outhook_role',
      })
    }
    await next()
  }
}
