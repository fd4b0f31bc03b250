import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ApiDatabase } from './database.ts'
import type { Principal } from './auth/principal.ts'
import type { CallbackDatabase } from '../_shared/messages/callbacks/database.ts'
import type { Log } from '../_shared/base/log.ts'
import type { OpenSpan, Tracer } from '../_shared/trace/tracer.ts'
import type { CountedRequest } from './request_counts.ts'

/** What the middleware puts beside a request. */
export type ApiEnv = {
  Variables: {
    requestId: string
    principal: Principal
    /** The span of the request; null when it is not recorded. */
    span: OpenSpan | null
    /** The trace context that what is published goes on with. */
    traceparent: string | null
  }
}

/** The app that routes are registered on. */
export type ApiApp = OpenAPIHono<ApiEnv, Record<never, never>, '/api/v1'>

/** What handlers and middleware work with. */
export type ApiDeps = {
  database: ApiDatabase
  callbacks: CallbackDatabase
  /** Tells whose credentials these are; throws ApiError. */
  authenticate(headers: Headers): Promise<Principal>
  /** Signs portal tokens, the first one; none: there are no portal tokens. */
  portalSecrets: readonly string[]
  /** What WhatsApp's verify tokens are made with; none: no address of a callback can be verified. */
  verifySecrets: readonly string[]
  /** The web origins that may call from a browser; none: CORS is off. */
  corsOrigins: readonly string[]
  /** Milliseconds since 1970. */
  wallNow(): number
  /** Milliseconds on a clock that never goes back. */
  now(): number
  sleep(ms: number): Promise<void>
  log: Log
  /** None: nothing is traced. */
  tracer?: Tracer | null
  /** Counts a request for the metrics; absent: none is counted. */
  countRequest?(request: CountedRequest): void
}
