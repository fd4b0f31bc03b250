import type { Context, MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { readTraceparent } from './context.ts'
import type { Attributes, OpenSpan, Tracer } from './tracer.ts'

/** What a handler finds beside a request: its span, null where none is recorded. */
export type SpanVariables = { Variables: { span: OpenSpan | null } }

/** The context that a request brings; null when it has none, or a malformed one. */
export function contextOf(header: string | undefined): string | null {
  return header !== undefined && readTraceparent(header) !== null ? header : null
}

/**
 * Ends the span of a request that has been answered, by the semantic conventions for HTTP. The path
 * itself is left out: it may hold a key.
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
 * A span for each request, which a handler finds as `span`. `isTrusted` says whether the caller's
 * own trace is continued; that of a stranger is not.
 */
export function requestSpans(
  tracer: Tracer | null,
  { isTrusted }: { isTrusted: boolean },
): MiddlewareHandler<SpanVariables> {
  return async function spanRequest(c, next): Promise<void> {
    const parent = isTrusted ? contextOf(c.req.header('traceparent')) : null
    const span = tracer?.begin({ name: c.req.method, kind: 'server', parent }) ?? null
    c.set('span', span)
    await next()
    if (span !== null) endRequestSpan(span, c)
  }
}
