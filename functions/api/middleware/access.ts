import type { MiddlewareHandler } from 'hono'
import type { Principal } from '../auth/principal.ts'
import type { Scope } from '../auth/scopes.ts'
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

/** Refuses (403) a caller without the scope. */
export function requireScope(needed: Scope): MiddlewareHandler<ApiEnv> {
  return async function checkScope(c, next): Promise<void> {
    const { scopes, kind } = c.get('principal')
    if (!scopes.has(needed)) {
      throw new ApiError('forbidden', `The token does not have the scope ${needed}`, {
        remedy: kind === 'portal'
          ? `Create a portal token whose scopes contain ${needed}, or call with a secret key`
          : `Add ${needed} to the array app_metadata.outhook_scopes of the user`,
      })
    }
    await next()
  }
}

/** Refuses (403) a caller without any scope: most users of a project do not use Outhook. */
export const requireAnyScope: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (c.get('principal').scopes.size === 0) {
    throw new ApiError('forbidden', 'The token has no scope', {
      remedy: 'Set the array app_metadata.outhook_scopes of the user',
    })
  }
  await next()
}

/** The error for a caller without a secret key; `what` starts the text: 'A channel is created'. */
export function keyRequired(what: string): ApiError {
  return new ApiError('forbidden', `${what} with a secret key only`, {
    remedy: 'Send the request from your own server, with the secret key in the header apikey',
  })
}

/** Refuses (403) a caller without a secret key. */
export const requireSecretKey: MiddlewareHandler<ApiEnv> = async (c, next) => {
  if (c.get('principal').kind !== 'key') throw keyRequired('This route is called')
  await next()
}
