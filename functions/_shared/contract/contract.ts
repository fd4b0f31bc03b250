import { z } from 'zod'

// What `outbox.dispatch` is asked, and of its answer what a run reads: zod leaves the rest out. 400
// deliveries with their events and endpoints cost it 0.6 to 1.1 µs a delivery, under 2 % of what
// sending one costs, so no row is taken on trust.

const delivery = z.object({
  event: z.string(),
  endpoint: z.string(),
  attempt: z.int(),
  failed_attempts: z.int(),
  lane: z.string(),
  ordered: z.boolean(),
  lease_ms: z.number(),
})

const event = z.object({
  type: z.string(),
  org_id: z.string(),
  correlation_id: z.string(),
  idempotency_key: z.string(),
  traceparent: z.string().nullable(),
  /** What shares a key keeps its order. */
  partition_key: z.string().nullable().optional(),
  body: z.string(),
})

const endpoint = z.object({
  /** Another one whenever the endpoint has changed. */
  revision: z.string(),
  version: z.int(),
  kind: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
  timeout_ms: z.number().positive(),
  payload: z.enum(['envelope', 'data']),
})

const settings = z.object({
  allow_http: z.boolean(),
  allow_cidrs: z.array(z.string()),
  allow_ports: z.array(z.string()),
  deny_ports: z.array(z.string()),
  /** Empty means none. */
  proxy_url: z.string(),
  success_bytes: z.int().nonnegative(),
  failure_bytes: z.int().nonnegative(),
  poll_ms: z.number().positive(),
  max_wall_ms: z.number().positive(),
  max_deliveries: z.int().positive(),
  batch_size: z.int().positive(),
})

const retry = z.object({
  event: z.string(),
  endpoint: z.string(),
  attempt: z.int(),
  delay_ms: z.number().nullable(),
})

const renewed = z.object({
  event: z.string(),
  endpoint: z.string(),
  attempt: z.int(),
  lease_ms: z.number(),
})

/**
 * What one dispatch answers: the deliveries claimed for this run, and all that sending them needs.
 */
export const dispatchAnswer = z.object({
  /** How many results came too late to count. */
  stale: z.int(),
  /** How many new deliveries routing made. */
  routed: z.int(),
  /** `too_many_runs`, `disabled`, or null: anything but null ends the run. */
  stop: z.string().nullable(),
  deliveries: z.array(delivery),
  // Loose: a kind of endpoint may add members, such as `credentials`. Its sender parses them, so that
  // an invalid one fails one attempt. To keep them costs 0.03 µs an event.
  events: z.record(z.string(), event.loose()),
  /** Without those of `known` that have not changed. */
  endpoints: z.record(z.string(), endpoint.loose()),
  settings,
  /** What follows the failed attempts among the results of this call. */
  retries: z.array(retry).nullish(),
  /** What this call has renewed; a repeat does not tell. */
  renewed: z.array(renewed).nullish(),
  error: z.object({
    /** The error of results that the database refused to store; other results are stored. */
    results: z.string().nullish(),
    route: z.string().nullish(),
    claim: z.string().nullish(),
  }).nullable(),
  /** Why the tick does not run; null if it runs. */
  problem: z.string().nullish(),
})

const claimKey = z.object({ event: z.string(), endpoint: z.string(), attempt: z.int() })

/** Which deliveries an answer claims, as far as they can be read, whatever else is wrong with it. */
export function readClaims(answer: unknown): ClaimKey[] {
  const read = z.object({ deliveries: z.array(z.unknown()) }).safeParse(answer)
  if (!read.success) return []
  return read.data.deliveries.flatMap((one) => {
    const key = claimKey.safeParse(one)
    return key.success ? [key.data] : []
  })
}

/** What a dispatch returned. The types of events and endpoints leave out what a kind adds. */
export type DispatchAnswer = Omit<z.infer<typeof dispatchAnswer>, 'events' | 'endpoints'> & {
  events: Record<string, EventRow>
  endpoints: Record<string, Endpoint>
}
/** One event for one endpoint, leased to this run for `lease_ms`. */
export type Delivery = z.infer<typeof delivery>
/** An event without its id; `body` is its data as it was published. */
export type EventRow = z.infer<typeof event>
/** Where to send, with the secrets live at the claim, newest first. */
export type Endpoint = z.infer<typeof endpoint>
/** The operator's settings that a run follows. */
export type Settings = z.infer<typeof settings>

/** What follows a failed attempt: the next one, `delay_ms` after it; null: it was the last. */
export type Retry = z.infer<typeof retry>

/** A delivery whose lane is leased anew, for `lease_ms` from no earlier than the call. */
export type Renewed = z.infer<typeof renewed>

/** Who runs the loop: an edge function, which ends by itself, or a worker, which stays. */
export type RunKind = 'edge' | 'worker'

/** The classes of failure that a sender reports. `outbox.error_hint` says what to do about each. */
export const errorClasses = [
  'dns',
  'blocked',
  'connect',
  'tls',
  'timeout',
  'reset',
  'redirect',
  'status',
  'too_large',
  'protocol',
  'broker',
] as const

export type ErrorClass = typeof errorClasses[number]

/** A class of failure of one kind: the kind, a dot and a word. Its module adds the hint. */
export type OwnErrorClass = `${string}.${string}`

/** Facts from a provider beside its code. The module of that kind stores and reads them. */
export type ProviderFacts = Readonly<Record<string, unknown>>

/** What came of one attempt: facts alone. Whether and when it is tried again is decided in SQL. */
export type Outcome =
  | {
    outcome: 'delivered'
    status?: number
    response?: string
    lossy?: boolean
    /** The provider's id of what it took. */
    provider_id?: string
    provider?: ProviderFacts
  }
  | {
    outcome: 'failed'
    error_class: ErrorClass | OwnErrorClass
    /**
     * Safe for the endpoint's owner to read: no secret, nothing about the inside; up to 500
     * characters.
     */
    error: string
    status?: number
    /** The header as received, up to 64 characters. */
    retry_after?: string
    /** The provider's error code, or a code of the sender's own: `failure_rule` has them. */
    code?: string
    provider?: ProviderFacts
    response?: string
    lossy?: boolean
  }

/** Which claim a result belongs to. */
export type ClaimKey = { event: string; endpoint: string; attempt: number }

/** A claim's end as dispatch takes it; `released` hands an unsent delivery back. */
export type Result =
  | ClaimKey & { outcome: 'released' }
  | ClaimKey & Outcome & { duration_ms: number }

/** Asks for a new lease of the ordered lane that this claim is of. */
export type Renewal = ClaimKey & { outcome: 'renew' }

/** One call of `outbox.dispatch`. The same (run, seq) with the same results may be called again. */
export type DispatchCall = {
  run: string
  seq: number
  results: (Result | Renewal)[]
  /** The number of free slots: at most so many deliveries come back. */
  limit: number
  kind: RunKind
  ended: boolean
  /** The revisions of the endpoints that need not be told again. */
  known: Readonly<Record<string, string>>
}
