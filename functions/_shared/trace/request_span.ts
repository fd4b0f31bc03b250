import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { readTraceparent } from './context.ts'
import type { Attributes, OpenSpan, Tracer } from './tracer.ts'

/** A handler's `span`; null if the request is not recorded. */
export type SpanVariables = { Variables: { span: OpenSpan | null } }

/** The `traceparent` of a request; null if it is absent or malformed. */
export function contextOf(header: string | undefined): string | null {
  return header !== undefined && readTraceparent(header) !== null ? header : null
}

/**
 * Ends the span of a request by the semantic conventions for HTTP. It omits the path, which may contain
 * a key.
 */
export function endRequestSpan(span: OpenSpan, c: Context, more: Attributes = {}): void {
  const { method } = c.req
  const { status } = c.res
  const route = routePath(c, -1)
  const error = status >= 500 ? String(status) : undefined
  span.end({
    name: `${method} ${route}`,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'url.scheme': new URL(c.req.url).protocol.slice(0, -1),
      'error.type': error,
      ...more,
    },
    error,
  })
}

/**
 * Creates a span for each request, as `span` in its context. `isTrusted`: whether it continues the
 * caller's trace. The header of an unknown caller must not decide what is recorded.
 */
export function requestSpans(
  tracer: Tracer | null,
  { isTrusted }: { isTrusted: (c: Context) => boolean },
): MiddlewareHandler<SpanVariables> {
  return async function spanRequest(c, next): Promise<void> {
    const parent = isTrusted(c) ? contextOf(c.req.header('traceparent')) : null
    const span = tracer?.begin({ name: c.req.method, kind: 'server', parent }) ?? null
    c.set('span', span)
    await next()
    if (span !== null) endRequestSpan(span, c)
  }
}
