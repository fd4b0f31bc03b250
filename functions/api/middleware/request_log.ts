import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { ApiDeps, ApiEnv } from '../context.ts'

/** The format of a caller's own request id, which connects its log with ours. */
const requestIdForm = /^[A-Za-z0-9_.:-]{1,64}$/

/**
 * Gives each request an id (the caller's `x-request-id` if it is valid), returns it, and writes one
 * log line. The line has the route, never a URL, a query or a body.
 */
export function requestLog(
  { log, now, countRequest }: Pick<ApiDeps, 'log' | 'now' | 'countRequest'>,
): MiddlewareHandler<ApiEnv> {
  return async function requestLog(c, next): Promise<void> {
    const started = now()
    const asked = c.req.header('x-request-id') ?? ''
    const requestId = requestIdForm.test(asked) ? asked : crypto.randomUUID()
    c.set('requestId', requestId)
    await next()
    c.header('x-request-id', requestId)
    const principal = c.get('principal')
    const { status } = c.res
    const { method } = c.req
    const route = routePath(c, -1)
    const ms = Math.round(now() - started)
    countRequest?.({ method, route, status, ms })
    log(status >= 500 ? 'warn' : 'info', 'request', {
      request: requestId,
      method,
      route,
      status,
      ms,
      ...principal === undefined ? {} : { org: principal.orgId, kind: principal.kind },
    })
  }
}
