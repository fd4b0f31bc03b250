import { Hono } from 'hono'
import { createAppLookup } from '../_shared/messages/callbacks/app_lookup.ts'
import type { CallbackDatabase } from '../_shared/messages/callbacks/database.ts'
import { type CallbackResult, refuse, toResponse } from '../_shared/messages/callbacks/response.ts'
import { receiveCallback, type ReceiveDeps } from '../_shared/messages/callbacks/receive.ts'
import { verifyAddress } from '../_shared/messages/callbacks/verify.ts'
import type { CallTrace } from '../_shared/database/functions.ts'
import { messageOf } from '../_shared/base/errors.ts'
import { createBodyRoom, unverifiedBodies } from '../_shared/http/body_room.ts'
import { notFound } from '../_shared/http/not_found.ts'
import { responseHeaders } from '../_shared/http/response_headers.ts'
import { requestSpans, type SpanVariables } from '../_shared/trace/request_span.ts'
import type { Tracer } from '../_shared/trace/tracer.ts'
import { version } from '../_shared/base/version.ts'

export type AppDeps = Omit<ReceiveDeps, 'apps' | 'bodies' | 'database'> & {
  database: CallbackDatabase
  /** Secrets of verify tokens; an empty list: the function is not set up yet. */
  verifySecrets: readonly string[]
  /** Milliseconds on a monotonic clock. */
  now(): number
  /** Exports a span for each request; null or absent: none. */
  tracer?: Tracer | null
  /** The same database to store callbacks; the events that it publishes continue the trace. */
  databaseWithin?(trace: CallTrace): CallbackDatabase
  /** Counts the response to a callback for the metrics; absent: nothing is counted. */
  countResponse?(status: number): void
}

/**
 * The function's HTTP side: `/whatsapp/inbound/:appKey` receives the callbacks of a Meta app, and
 * `GET /whatsapp/health` returns the version.
 */
export function createApp(deps: AppDeps): Hono<SpanVariables> {
  // No call of it belongs to one request alone.
  const apps = createAppLookup(deps.database.findApp, deps.now)
  const bodies = createBodyRoom(unverifiedBodies)
  const root = new Hono<SpanVariables>()
  root.use(responseHeaders)
  const app = root.basePath('/whatsapp')
  app.use(requestSpans(deps.tracer ?? null, { isTrusted: () => false }))

  app.get('/health', (c) => c.json({ status: 'ok', version }))

  app.get('/inbound/:appKey', (c) => {
    const url = new URL(c.req.url)
    return toResponse(verifyAddress(url, c.req.param('appKey'), deps.verifySecrets))
  })

  app.post('/inbound/:appKey', async (c) => {
    const started = deps.now()
    const span = c.get('span')
    const database = span === null
      ? deps.database
      : deps.databaseWithin?.({ traceparent: span.traceparent }) ?? deps.database
    const result = await receiveCallback(c.req.raw, c.req.param('appKey'), {
      ...deps,
      bodies,
      apps,
      database,
    })
    const response = toResponse(result)
    deps.countResponse?.(response.status)
    // The line has no path, because the app's key in it is confidential.
    deps.log(response.status >= 500 ? 'warn' : 'info', 'callback', {
      status: response.status,
      ms: Math.round(deps.now() - started),
      ...counted(result),
    })
    return response
  })

  app.onError((error) => {
    deps.log('error', 'callback failed', { error: messageOf(error) })
    return toResponse(refuse('unavailable', 'The request failed; see the log of this function'))
  })
  app.notFound(notFound(app, 'use /whatsapp/inbound/<app key>'))
  return app
}

function counted(result: CallbackResult): Record<string, number> {
  return result.kind === 'stored' ? result.counts : {}
}
