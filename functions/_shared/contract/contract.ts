import * as z from 'zod'
import { keyed } from '../base/keyed.ts'

// The arguments of `outbox.dispatch`, and the parts of its response that a run reads; zod drops the
// rest. Validation costs 0.6 to 1.1 µs for each of 400 deliveries with events and endpoints, under 2 % of
// a send, so all rows are validated.

const delivery = z.object({
  event: z.string(),
  endpoint: z.string(),
  attempt: z.int(),
  failed_attempts: z.int(),
  lane: z.string(),
  ordered: z.boolean(),
  lease_ms: z.number(),
  /** The secret of x-signature during a rotation; absent: the first of the endpoint. */
  secret: z.string().optional(),
})

const event = z.object({
  type: z.string(),
  org_id: z.string(),
  correlation_id: z.string(),
  idempotency_key: z.string(),
  traceparent: z.string().nullable(),
  /** Events with the same key are delivered in order. */
  partition_key: z.string().nullable().optional(),
  body: z.string(),
})

const endpoint = z.object({
  /** Changes with each change of the endpoint. */
  revision: z.string(),
  version: z.int(),
  kind: z.string(),
  url: z.string(),
  headers: keyed(z.string(), z.string()),
  secrets: z.array(z.string()),
  timeout_ms: z.number().positive(),
  payload: z.enum(['envelope', 'data']),
})

const settings = z.object({
  allow_http: z.boolean(),
  allow_cidrs: z.array(z.string()),
  allow_ports: z.array(z.string()),
  deny_ports: z.array(z.string()),
  /** Empty: none. */
  proxy_url: z.string(),
  success_bytes: z.int().nonnegative(),
  failure_bytes: z.int().nonnegative(),
  poll_ms: z.number().positive(),
  max_wall_ms: z.number().positive(),
  max_deliveries: z.int().positive(),
  batch_size: z.int().positive(),
  /** Whether commits notify the workers; absent from an older database. */
  notify: z.boolean().optional(),
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

/** The response of a dispatch: the deliveries claimed for this run, and the data to send them. */
export const dispatchResponse = z.object({
  /** How many results were ignored because their lease had expired. */
  stale: z.int(),
  /** How many deliveries routing created. */
  routed: z.int(),
  /**
   * Anything but null ends the run: `too_many_runs`, `disabled`, or why it gets nothing because of its
   * project (functions/deliver/refusal.ts).
   */
  stop: z.string().nullable(),
  /**
   * Whether the call probably left due deliveries, or events to route, because organisations take turns; absent from
   * an older database.
   */
  more: z.boolean().optional(),
  deliveries: z.array(delivery),
  // Loose: a kind of endpoint may add members, such as `credentials`. Its sender parses them, so an
  // invalid one fails one attempt. Keeping them costs 0.03 µs an event.
  events: z.record(z.string(), event.loose()),
  /** Without unchanged endpoints in `known`. */
  endpoints: z.record(z.string(), endpoint.loose()),
  settings,
  /** The decisions after failed results of this call. */
  retries: z.array(retry).nullish(),
  /** The leases that this call renewed; absent in the response to a repeat. */
  renewed: z.array(renewed).nullish(),
  error: z.object({
    /** The error of results that the database refused to store; other results are stored. */
    results: z.string().nullish(),
    route: z.string().nullish(),
    claim: z.string().nullish(),
  }).nullable(),
  /** Why the run gets nothing because of its project, or why the tick does not run; null: neither. */
  problem: z.string().nullish(),
  /** The time of the database in ms since 1970; absent from an older database. */
  now_ms: z.number().optional(),
})

const claimKey = z.object({ event: z.string(), endpoint: z.string(), attempt: z.int() })

/** The claims in a response, as far as they can be read from an otherwise invalid one. */
export function readClaims(response: unknown): ClaimKey[] {
  const read = z.object({ deliveries: z.array(z.unknown()) }).safeParse(response)
  if (!read.success) return []
  return read.data.deliveries.flatMap((one) => {
    const key = claimKey.safeParse(one)
    return key.success ? [key.data] : []
  })
}

/** The response of a dispatch. The types of events and endpoints omit members that a kind adds. */
export type DispatchResponse = Omit<z.infer<typeof dispatchResponse>, 'events' | 'endpoints'> & {
  events: Record<string, EventRow>
  endpoints: Record<string, Endpoint>
}
/** One event for one endpoint, leased to this run for `lease_ms`. */
export type Delivery = z.infer<typeof delivery>
/** An event without its id; `body` is its payload as it was published. */
export type EventRow = z.infer<typeof event>
/** An endpoint with the secrets that were valid at the claim, newest first. */
export type Endpoint = z.infer<typeof endpoint>
/** The operator's settings that a run follows. */
export type Settings = z.infer<typeof settings>

/** The decision after a failed attempt: retry after `delay_ms`, or null: no retry. */
export type Retry = z.infer<typeof retry>

/** A renewed lease of a delivery's lane: `lease_ms`, counted from the call or later. */
export type Renewed = z.infer<typeof renewed>

/** An edge function, which ends by itself, or a worker, which runs until it is stopped. */
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

/** Facts from a provider besides its code. The module of the kind stores and reads them. */
export type ProviderFacts = Readonly<Record<string, unknown>>

/** The facts of one attempt. SQL decides whether and when to retry. */
export type Outcome =
  | {
    outcome: 'delivered'
    status?: number
    response?: string
    lossy?: boolean
    /** `response` has only the start of the body. */
    cut?: boolean
    /** The request was sent twice, because the first connection ended without a response. */
    resent?: boolean
    /** The provider's id of the accepted message. */
    provider_id?: string
    provider?: ProviderFacts
  }
  | {
    outcome: 'failed'
    error_class: ErrorClass | OwnErrorClass
    /** Safe for the endpoint's owner: no secret and no internal detail; up to 500 characters. */
    error: string
    status?: number
    /** The Retry-After header as received, up to 64 characters. */
    retry_after?: string
    /** The provider's error code, or one of the sender; `failure_rule` lists them. */
    code?: string
    provider?: ProviderFacts
    response?: string
    lossy?: boolean
    /** `response` has only the start of the body. */
    cut?: boolean
    /** The request was sent twice, because the first connection ended without a response. */
    resent?: boolean
  }

/** Identifies the claim that a result belongs to. */
export type ClaimKey = { event: string; endpoint: string; attempt: number }

/** The result of a claim; `released` returns an unsent delivery. */
export type Result =
  | ClaimKey & { outcome: 'released' }
  | ClaimKey & Outcome & {
    duration_ms: number
    /** The version of the endpoint that the run used; absent if dispatch() returned no endpoint for this delivery. */
    endpoint_version?: number
  }

/** Requests a new lease for the ordered lane of this claim. */
export type Renewal = ClaimKey & { outcome: 'renew' }

/** What a worker says about itself in each call, for `outbox.list_workers()`. */
export type WorkerFacts = {
  host: string
  pid: number
  version: string
  /** How many deliveries it holds. */
  in_flight: number
  /** How many it has delivered within the last minute. */
  delivered: number
}

/** One call of `outbox.dispatch`. A repeat has the same (run, seq) and the same results. */
export type DispatchCall = {
  run: string
  seq: number
  results: (Result | Renewal)[]
  /** The number of free slots: the most deliveries to claim. */
  limit: number
  kind: RunKind
  ended: boolean
  /** The revisions of endpoints that the response may omit. */
  known: Readonly<Record<string, string>>
  /** How many deliveries the run holds or may get from another call, besides those in `results`. */
  held: number
  /** The database that sent the kick, in the first call of a run that it started. */
  kick?: string
  /** Whether the database must refuse the rows that cause temporary errors. */
  refuse?: boolean
  /** Whether the call was made before, and its response was lost. */
  repeat?: boolean
  /** The kinds of endpoints that the run can send; absent: all. */
  kinds?: readonly string[]
  /** The organisations of which the run claims nothing now, because they hold their share of it. */
  full?: readonly string[]
  /** Whether a commit wakes the run. */
  listens?: boolean
  /** Of a worker. */
  worker?: WorkerFacts
}
