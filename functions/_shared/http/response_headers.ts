import type { MiddlewareHandler } from 'hono'

/**
 * Adds to every response, also to errors, that no cache stores it and that no browser guesses its type.
 * Register it before all other handlers, without a base path: other paths have responses too.
 */
export const responseHeaders: MiddlewareHandler = async (c, next) => {
  await next()
  c.res.headers.set('cache-control', 'no-store')
  c.res.headers.set('x-content-type-options', 'nosniff')
}
