import { cors as honoCors } from 'hono/cors'
import type { MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../context.ts'

/** Allows pages of these origins to call, without cookies; null for an empty list: CORS stays off. */
export function cors(origins: readonly string[]): MiddlewareHandler<ApiEnv> | null {
  if (origins.length === 0) return null
  return honoCors({
    origin: [...origins],
    allowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowHeaders: [
      'apikey',
      'authorization',
      'content-type',
      'idempotency-key',
      'if-match',
      'traceparent',
      'x-client-info',
      'x-org-id',
      'x-request-id',
    ],
    exposeHeaders: ['etag', 'location', 'retry-after', 'x-request-id'],
    maxAge: 600,
  })
}
