import { z } from 'zod'
import type { MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../context.ts'
import type { ApiDatabase } from '../database.ts'
import { ApiError } from '../errors.ts'

/** How many requests an isolate takes from the database at a time: most then ask it for nothing. */
const leaseSize = 50
/** What an isolate has not used by then is gone, so that idle isolates hoard nothing. */
const leaseMs = 5000
const maxOrgs = 10_000

const takenSchema = z.object({ granted: z.int(), retryAfterMs: z.number() })

type Lease = {
  left: number
  until: number
  /** Until then the database has said no: it is not asked again. */
  emptyUntil: number
  asking: Promise<void> | null
}

/** Counts each org's requests against what it may send, over all isolates: 429 with Retry-After. */
export function rateLimited(
  { database, now }: { database: ApiDatabase; now: () => number },
): MiddlewareHandler<ApiEnv> {
  const leases = new Map<string, Lease>()

  return async function limitRate(c, next): Promise<void> {
    await take(c.get('principal').orgId)
    await next()
  }

  async function take(orgId: string): Promise<void> {
    const lease = leaseOf(orgId)
    while (lease.left === 0 || lease.until <= now()) {
      if (lease.emptyUntil > now()) throw rateLimit(lease.emptyUntil - now())
      // Requests that come meanwhile wait for the same answer.
      lease.asking ??= ask(orgId, lease).finally(() => lease.asking = null)
      await lease.asking
    }
    lease.left--
  }

  async function ask(orgId: string, lease: Lease): Promise<void> {
    const { granted, retryAfterMs } = await database.call('take_requests', {
      p_org_id: orgId,
      p_count: leaseSize,
    }, takenSchema)
    lease.left = granted
    lease.until = now() + leaseMs
    lease.emptyUntil = granted === 0 ? now() + Math.max(retryAfterMs, 1) : 0
  }

  function leaseOf(orgId: string): Lease {
    const known = leases.get(orgId)
    if (known !== undefined) return known
    if (leases.size >= maxOrgs) {
      for (const [id, { until, asking }] of leases) {
        if (until <= now() && asking === null) leases.delete(id)
      }
    }
    const lease = { left: 0, until: 0, emptyUntil: 0, asking: null }
    leases.set(orgId, lease)
    return lease
  }
}

function rateLimit(ms: number): ApiError {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  return new ApiError('rate_limited', 'This organisation sends more requests than it may', {
    remedy: `Send the request again in ${seconds} s`,
    headers: { 'retry-after': String(seconds) },
  })
}
