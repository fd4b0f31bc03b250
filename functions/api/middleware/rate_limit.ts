import { z } from 'zod'
import type { MiddlewareHandler } from 'hono'
import { isRevoked, type Revocations, revocationsSchema } from '../auth/portal.ts'
import type { ApiEnv } from '../context.ts'
import type { ApiDatabase } from '../database.ts'
import { ApiError } from '../errors.ts'

/** How many requests an isolate reserves in one call, so that most requests need no call. */
const reservationSize = 50
/** A reservation expires after this, so that idle isolates do not hoard. */
const reservationMs = 5000
const maxOrgs = 10_000
/**
 * How many more requests one counts as if the database cancels its statement after the statement timeout: as many
 * as the most rows that a list may read. How much it read is unknown.
 */
const requestsOfTimeout = 40

const takenSchema = z.object({
  granted: z.int(),
  retryAfterMs: z.number(),
  portal: revocationsSchema,
  maxInFlight: z.int(),
})

type Reservation = {
  /** Below 0: what expensive requests owe. */
  left: number
  until: number
  /** The time until which the database has refused: it is not called before. */
  refusedUntil: number
  pending: Promise<void> | null
  /** How many calls to the database a process makes at once. */
  maxInFlight: number
  /** As of the last call; null before the first. */
  revocations: Revocations | null
}

/**
 * Limits the requests of each organisation over all isolates: 429 with Retry-After. A handler may
 * count an expensive request as several. The same call to the database returns the revoked portal
 * tokens. They are refused (401) at most `reservationMs` after their revocation.
 */
export function rateLimit(
  { database, now }: { database: ApiDatabase; now: () => number },
): MiddlewareHandler<ApiEnv> {
  const reservations = new Map<string, Reservation>()

  return async function rateLimit(c, next): Promise<void> {
    const { orgId, portal } = c.get('principal')
    const reservation = await useOne(orgId)
    const { revocations } = reservation
    if (portal !== null && (revocations === null || isRevoked(portal, revocations))) {
      throw new ApiError('unauthenticated', 'The portal token was revoked', {
        remedy: 'Ask the application for a new token',
        headers: { 'www-authenticate': 'Bearer' },
      })
    }
    c.set('charge', (requests) => reservation.left -= requests)
    c.set('maxInFlight', reservation.maxInFlight)
    await next()
    if (mayReadMany(c.req) && isTimedOut(c.error)) reservation.left -= requestsOfTimeout
  }

  async function useOne(orgId: string): Promise<Reservation> {
    const reservation = reservationOf(orgId)
    while (reservation.left <= 0 || reservation.until <= now()) {
      if (reservation.refusedUntil > now()) throw tooManyRequests(reservation.refusedUntil - now())
      // Concurrent requests share one call.
      reservation.pending ??= reserve(orgId, reservation).finally(() => reservation.pending = null)
      await reservation.pending
    }
    reservation.left--
    return reservation
  }

  async function reserve(orgId: string, reservation: Reservation): Promise<void> {
    const { granted, retryAfterMs, portal, maxInFlight } = await database.call('take_requests', {
      p_org_id: orgId,
      p_count: reservationSize,
    }, takenSchema)
    reservation.left = Math.min(reservation.left, 0) + granted
    reservation.revocations = portal
    reservation.maxInFlight = maxInFlight
    reservation.until = now() + reservationMs
    reservation.refusedUntil = granted === 0 ? now() + Math.max(retryAfterMs, 1) : 0
  }

  function reservationOf(orgId: string): Reservation {
    const known = reservations.get(orgId)
    if (known !== undefined) return known
    if (reservations.size >= maxOrgs) {
      for (const [id, { until, pending }] of reservations) {
        if (until <= now() && pending === null) reservations.delete(id)
      }
    }
    const reservation: Reservation = {
      left: 0,
      until: 0,
      refusedUntil: 0,
      pending: null,
      maxInFlight: 1,
      revocations: null,
    }
    reservations.set(orgId, reservation)
    return reservation
  }
}

/** POST requests that read stored rows, or execute SQL of the application. */
const readingPath = /^\/api\/v1\/(?:filter-trials|replay-jobs\/preview|sagas\/[^/]+)$/

/**
 * Whether the cost of a request grows with what is stored. Any other one that times out has waited for a lock or a
 * slow disk. HEAD reads as GET does.
 */
function mayReadMany({ method, path }: { method: string; path: string }): boolean {
  return method === 'GET' || method === 'HEAD' || readingPath.test(path)
}

function isTimedOut(error: Error | undefined): boolean {
  return error instanceof ApiError && typeof error.cause === 'object' && error.cause !== null &&
    'code' in error.cause && error.cause.code === '57014'
}

function tooManyRequests(ms: number): ApiError {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  return new ApiError('rate_limited', 'This organisation has sent too many requests', {
    remedy: `Send the request again in ${seconds} s`,
    headers: { 'retry-after': String(seconds) },
  })
}
