import * as z from 'zod'

// The result of `outbox.get_metrics`. Times are seconds since 1970 on the database's clock.

const seconds = z.number().nullable()

const endpointGroup = z.object({
  kind: z.string(),
  status: z.string(),
  n: z.number(),
  open: z.number(),
  in_flight: z.number(),
})

const namedEndpoint = z.object({
  endpoint: z.string(),
  org: z.string(),
  kind: z.string(),
  open: z.number(),
  failures: z.number(),
  failing_since: seconds,
  due_since: seconds,
})

const partitions = z.object({
  table: z.string(),
  n: z.number(),
  until: z.number(),
  bytes: z.number(),
})

const table = z.object({
  table: z.string(),
  live: z.number(),
  dead: z.number(),
  vacuumed_at: seconds,
})

export const metricsResult = z.object({
  version: z.string(),
  now: z.number(),
  bounds: z.object({ attempt_ms: z.array(z.number()), latency_ms: z.array(z.number()) }),
  /**
   * `[metric, labels, n, total]`; the last label of a histogram is the bucket's number, from 1. total is in
   * milliseconds, for `attempts` in bytes.
   */
  counters: z.array(z.tuple([z.string(), z.array(z.string()), z.number(), z.number()])),
  queue: z.object({
    endpoints: z.array(endpointGroup),
    due_since: seconds,
    open_since: seconds,
    named: z.array(namedEndpoint),
  }),
  events: z.object({
    unrouted: z.number(),
    unrouted_since: seconds,
    set_aside: z.number(),
    dead_letters: z.number(),
  }),
  engine: z.object({
    enabled: z.boolean(),
    /** Absent in an older database. */
    copy: z.boolean().default(false),
    runs: z.record(z.string(), z.number()),
    tick_at: seconds,
    kick_at: seconds,
    kicks: z.object({ commit: z.number(), tick: z.number() }),
    /** Null if the queue of pg_net is too large to read; absent in an older database. */
    kicks_waiting: z.number().nullable().default(null),
    replay_jobs: z.number(),
    in_default: z.object({ event: z.number(), attempt: z.number() }),
    partitions: z.array(partitions).nullable(),
  }),
  /** `[metric, labels, value]` of modules; absent in an older database. */
  gauges: z.array(z.tuple([z.string(), z.array(z.string()), z.number()])).default([]),
  database: z.object({
    tables: z.array(table).nullable(),
    snapshot_s: z.number(),
    xmin_age: z.number(),
  }),
})

/** The result of `outbox.get_metrics`. */
export type MetricsResult = z.infer<typeof metricsResult>
/** One counter: its metric, its label values, its count, and the sum in milliseconds. */
export type Counted = MetricsResult['counters'][number]
