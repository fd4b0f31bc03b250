import type { MiddlewareHandler } from 'hono'
import { contextOf, endRequestSpan } from '../../_shared/trace/request_span.ts'
import type { Tracer } from '../../_shared/trace/tracer.ts'
import type { ApiEnv } from '../context.ts'

/**
 * Puts the trace that a request belongs to beside it: the caller's `traceparent`, or, where spans
 * are exported, the span of the request. A malformed header is as good as none.
 */
export function traced(tracer: Tracer | null): MiddlewareHandler<ApiEnv> {
  return async function traceRequest(c, next): Promise<void> {
    const given = contextOf(c.req.header('traceparent'))
    const span = tracer?.begin({ name: c.req.method, kind: 'server', parent: given }) ?? null
    c.set('span', span)
    c.set('traceparent', span?.traceparent ?? given)
    await next()
    if (span === null) return
    endRequestSpan(span, c, {
      'outhook.request_id': c.get('requestId'),
      'outhook.org_id': c.get('principal')?.orgId,
    })
  }
}
