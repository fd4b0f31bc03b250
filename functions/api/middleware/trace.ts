import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { readTraceparent } from '../../_shared/trace/context.ts'
import type { Tracer } from '../../_shared/trace/tracer.ts'
import type { ApiEnv } from '../context.ts'

/**
 * Puts the trace that a request belongs to beside it: the caller's `traceparent`, or, where spans
 * are exported, the span of the request. A malformed header is as good as none.
 */
export function traced(tracer: Tracer | null): MiddlewareHandler<ApiEnv> {
  return async function traceRequest(c, next): Promise<void> {
    const header = c.req.header('traceparent')
    const given = header !== undefined && readTraceparent(header) !== null ? header : null
    const { method } = c.req
    const span = tracer?.begin({ name: method, kind: 'server', parent: given }) ?? null
    c.set('span', span)
    c.set('traceparent', span?.traceparent ?? given)
    await next()
    if (span === null) return
    const route = routePath(c, -1)
    const { status } = c.res
    span.end({
      name: `${method} ${route}`,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
        'url.scheme': new URL(c.req.url).protocol.slice(0, -1),
        'outhook.request_id': c.get('requestId'),
        'outhook.org_id': c.get('principal')?.orgId,
        'error.type': status >= 500 ? String(status) : undefined,
      },
      ...status >= 500 ? { error: String(status) } : {},
    })
  }
}
