import type { OpenAPIHono } from './zod_openapi.ts'
import type { ApiDatabase } from './database.ts'
import type { Principal } from './auth/principal.ts'
import type { CheckChannel } from './channel_check/check.ts'
import type { CallbackDatabase } from '../_shared/messages/callbacks/database.ts'
import type { Log } from '../_shared/base/log.ts'
import type { OpenSpan, Tracer } from '../_shared/trace/tracer.ts'
import type { CountedRequest } from './request_counts.ts'

/** What the middleware adds to the context of a request. */
export type ApiEnv = {
  Variables: {
    requestId: string
    principal: Principal
    /** For this request: it names the caller for the audit trail, and its calls take turns (call_queue.ts). */
    database: ApiDatabase
    /** When the request began, on the clock `now` of ApiDeps. */
    startedAt: number
    /** The span of the request; null if it is not recorded. */
    span: OpenSpan | null
    /** Counts further requests of the organisation for expensive work; absent: no limit is set. */
    charge?: (requests: number) => void
    /** How many calls to the database are made at once for the organisation. */
    maxInFlight: number
    /** The trace context for published events; null: none. */
    traceparent: string | null
  }
}

export type ApiApp = OpenAPIHono<ApiEnv, Record<never, never>, '/api/v1'>

/** What handlers and middleware use. */
export type ApiDeps = {
  database: ApiDatabase
  callbacks: CallbackDatabase
  /** Identifies the caller by its credentials; throws ApiError. */
  authenticate(headers: Headers): Promise<Principal>
  /** The first one signs portal tokens, all verify; an empty list: there are no portal tokens. */
  portalSecrets: readonly string[]
  /** Secrets of WhatsApp's verify tokens; an empty list: no callback address can be verified. */
  verifySecrets: readonly string[]
  /** Checks a channel at Meta. */
  checkChannel: CheckChannel
  /** The web origins that may call from a browser; an empty list: CORS is off. */
  corsOrigins: readonly string[]
  /** Milliseconds since 1970. */
  wallNow(): number
  /** Milliseconds on a monotonic clock. */
  now(): number
  sleep(ms: number): Promise<void>
  log: Log
  /** null: nothing is traced. */
  tracer?: Tracer | null
  /** Counts a request for the metrics; absent: nothing is counted. */
  countRequest?(request: CountedRequest): void
  /** Counts the response to a callback of WhatsApp; absent: nothing is counted. */
  countCallback?(status: number): void
}

/** What routes use: calls to the database are those of the request, in its context. */
export type RouteDeps = Omit<ApiDeps, 'database'>
