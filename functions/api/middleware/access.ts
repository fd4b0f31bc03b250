import type { MiddlewareHandler } from 'hono'
import { isEnough, type Principal, type Role } from '../auth/principal.ts'
import type { ApiEnv } from '../context.ts'
import { ApiError } from '../errors.ts'

/** Adds the caller to the context, or refuses the request (401) without reading its body. */
export function authentication(
  authenticate: (headers: Headers) => Promise<Principal>,
): MiddlewareHandler<ApiEnv> {
  return async function authentication(c, next): Promise<void> {
    try {
      c.set('principal', await authenticate(c.req.raw.headers))
    } catch (error) {
      await c.req.raw.body?.cancel().catch(() => {})
      throw error
    }
    await next()
  }
}

/** Refuses (403) a caller without the role. */
export function requireRole(needed: Role): MiddlewareHandler<ApiEnv> {
  return async function checkRole(c, next): Promise<void> {
    const { role, kind } = c.get('principal')
    if (!isEnough(role, needed)) {
      throw new ApiError(
        'forbidden',
        `This request requires the role ${needed}; the token has ${role}`,
        {
          remedy: kind === 'portal'
            ? 'Portal tokens are viewer or operator: call with a secret key or a user token'
            : 'The role is in the token, as app_metadata.outhook_role',
        },
      )
    }
    await next()
  }
}
