import { unsampled } from '../../_shared/trace/context.ts'
import { contextOf, endRequestSpan } from '../../_shared/trace/request_span.ts'
import type { Tracer } from '../../_shared/trace/tracer.ts'
import type { MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../context.ts'

/**
 * Exports the span of each request. The `traceparent` of a caller that is not identified is not read:
 * such a request starts a trace of its own. `now` is the clock of the tracer.
 */
export function tracing(tracer: Tracer | null, now: () => number): MiddlewareHandler<ApiEnv> {
  return async function tracing(c, next): Promise<void> {
    const at = now()
    c.set('startedAt', at)
    c.set('span', null)
    c.set('traceparent', null)
    await next()
    const principal = c.get('principal')
    const span = principal === undefined
      ? tracer?.begin({ name: c.req.method, kind: 'server', parent: null, at }) ?? null
      : c.get('span')
    if (span === null) return
    endRequestSpan(span, c, {
      'outhook.request_id': c.get('requestId'),
      'outhook.org_id': principal?.orgId,
    })
  }
}

/**
 * Adds the trace of an identified caller to the context: the span if it is recorded, else the caller's
 * `traceparent`. Only a secret key decides by its flag what is recorded. A malformed header is ignored.
 */
export function continueTrace(tracer: Tracer | null): MiddlewareHandler<ApiEnv> {
  return async function continueTrace(c, next): Promise<void> {
    const parent = contextOf(c.req.header('traceparent'))
    const isTrusted = c.get('principal').kind === 'key'
    const span = tracer?.begin({
      name: c.req.method,
      kind: 'server',
      parent,
      isTrusted,
      at: c.get('startedAt'),
    }) ?? null
    c.set('span', span)
    c.set('traceparent', span?.traceparent ?? (isTrusted ? parent : unsampled(parent)))
    await next()
  }
}
