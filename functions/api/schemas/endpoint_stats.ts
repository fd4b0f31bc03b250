import { z } from '@hono/zod-openapi'
import { timeSchema, uuidSchema } from './common.ts'

export const pauseSchema = z.strictObject({
  reason: z.string().min(1).max(500).optional(),
}).openapi('Pause', { example: { reason: 'The receiver is being rebuilt' } })

/** What became of a test event. */
export const testResultSchema = z.object({
  eventId: uuidSchema,
  outcome: z.string().openapi({
    description: '`delivered`, `failed` (it is tried again), another end, or `pending` still.',
    example: 'delivered',
  }),
  attempt: z.int().nullable(),
  status: z.int().nullable().openapi({ description: 'What the endpoint answered.' }),
  errorClass: z.string().nullable(),
  error: z.string().nullable(),
  durationMs: z.int().nullable(),
  response: z.string().nullable().openapi({ description: "The beginning of the answer's body." }),
  nextRetryAt: timeSchema.nullable(),
}).openapi('TestResult')

export const testStartedSchema = z.object({ eventId: uuidSchema })

/** How an endpoint fares. */
export const endpointStatsSchema = z.object({
  endpointId: uuidSchema,
  open: z.int().openapi({ description: 'Deliveries that are not finished.' }),
  inFlight: z.int(),
  failuresRunning: z.int().openapi({ description: 'Failures in a row.' }),
  failingSince: timeSchema.nullable(),
  breaker: z.enum(['closed', 'open', 'half_open']),
  probeAt: timeSchema.nullable(),
  nextAt: timeSchema.nullable().openapi({ description: 'When it is served next.' }),
  deadLetters: z.int().openapi({ description: 'Neither replayed nor discarded; 10,000 at most.' }),
  attempts: z.object({
    total: z.int(),
    delivered: z.int(),
    failed: z.int(),
    capped: z.boolean().openapi({
      description: 'Whether there were more than the 10,000 counted.',
    }),
    since: timeSchema.openapi({ description: 'From when on they are counted.' }),
    lastAt: timeSchema.nullable(),
    p50Ms: z.int().nullable(),
    p95Ms: z.int().nullable(),
  }),
}).openapi('EndpointStats')
