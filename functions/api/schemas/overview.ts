import { z } from '../zod_openapi.ts'
import { timeSchema, uuidSchema } from './common.ts'

const milliseconds = z.int().nullable()
const parts = z.array(z.int())

/** The state of an organisation, and its attempts within a span. */
export const overviewSchema = z.object({
  time: timeSchema,
  minutes: z.int(),
  endpoints: z.object({
    total: z.int(),
    enabled: z.int(),
    paused: z.int(),
    disabled: z.int(),
    failing: z.int().openapi({ description: 'Those whose last attempt failed.' }),
    breakersOpen: z.int(),
  }),
  events: z.object({
    total: z.int(),
    capped: z.boolean().openapi({
      description: 'Whether there were more than the 10,000 counted.',
    }),
    since: timeSchema.openapi({ description: 'The events are counted from this time on.' }),
  }).openapi({ description: 'The events that were published in the span.' }),
  retriesDue: z.object({
    total: z.int(),
    capped: z.boolean().openapi({
      description:
        'Whether there may be more: it counts up to 1,000 retries among the first 10,000 deliveries that become due in this hour.',
    }),
  }).openapi({
    description:
      'The retries that become due within the next hour; not those that are due already.',
  }),
  open: z.int().openapi({ description: 'The number of deliveries that are not finished.' }),
  inFlight: z.int(),
  oldestDueAt: timeSchema.nullable().openapi({
    description: 'Since when the oldest due work of an enabled endpoint has waited.',
  }),
  deadLetters: z.int().openapi({
    description: 'Those not replayed or discarded; counted up to 10,000.',
  }),
  attempts: z.object({
    since: timeSchema.openapi({ description: 'From when on the attempts are complete.' }),
    capped: z.boolean().openapi({
      description: 'Whether there were more than the 10,000 counted.',
    }),
    total: z.int(),
    delivered: z.int(),
    failed: z.int(),
    p50Ms: milliseconds,
    p95Ms: milliseconds,
    p99Ms: milliseconds,
  }).openapi({ description: 'The attempts of the span, and how long they took.' }),
  latency: z.object({ p50Ms: milliseconds, p95Ms: milliseconds, p99Ms: milliseconds }).openapi({
    description: 'The time from an event to its delivery.',
  }),
  series: z.array(z.object({ at: timeSchema, delivered: z.int(), failed: z.int() })).openapi({
    description: 'The attempts in 60 equal parts of the span; parts without attempts are left out.',
  }),
  busiest: z.array(z.object({
    endpointId: uuidSchema,
    status: z.enum(['enabled', 'paused', 'disabled']),
    breaker: z.enum(['closed', 'open', 'half_open']),
    open: z.int(),
    inFlight: z.int(),
    failuresRunning: z.int().openapi({ description: 'Consecutive failures.' }),
    failingSince: timeSchema.nullable(),
    oldestDueAt: timeSchema.nullable().openapi({
      description: 'Since when its oldest due work has waited; null if none is due.',
    }),
    delivered: z.int(),
    failed: z.int(),
    deliveredParts: parts.openapi({
      description: 'The attempts that delivered, in 24 equal parts of the span.',
    }),
    failedParts: parts.openapi({
      description: 'The attempts that failed, in 24 equal parts of the span.',
    }),
  })).openapi({ description: 'Up to 100 endpoints with work or attempts, the worst first.' }),
}).openapi('Overview')
