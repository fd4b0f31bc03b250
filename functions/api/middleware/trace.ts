import type { MiddlewareHandler } from 'hono'
import { contextOf, endRequestSpan } from '../../_shared/trace/request_span.ts'
import type { Tracer } from '../../_shared/trace/tracer.ts'
import type { ApiEnv } from '../context.ts'

/**
 * Adds the trace of a request to its context: the span if spans are exported, else the caller's
 * `traceparent`. A malformed header is ignored.
 */
export function tracing(tracer: Tracer | null): MiddlewareHandler<ApiEnv> {
  return async function tracing(c, next): Promise<void> {
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
