import { z } from '@hono/zod-openapi'
import { timeSchema, uuidSchema } from './common.ts'

export const pauseSchema = z.strictObject({
  reason: z.string().min(1).max(500).optional(),
}).openapi('Pause', { example: { reason: 'The receiver is being rebuilt' } })

/** The result of a test event. */
export const testResultSchema = z.object({
  eventId: uuidSchema,
  outcome: z.string().openapi({
    description: '`delivered`, `failed` (it will be retried), another final outcome, or `pending`.',
    example: 'delivered',
  }),
  attempt: z.int().nullable(),
  status: z.int().nullable().openapi({ description: 'The HTTP status of the response.' }),
  errorClass: z.string().nullable(),
  error: z.string().nullable(),
  durationMs: z.int().nullable(),
  response: z.string().nullable().openapi({ description: 'The start of the response body.' }),
  nextRetryAt: timeSchema.nullable(),
}).openapi('TestResult')

export const testStartedSchema = z.object({ eventId: uuidSchema })

/** Numbers of an endpoint. */
export const endpointStatsSchema = z.object({
  endpointId: uuidSchema,
  open: z.int().openapi({ description: 'Deliveries that are not finished.' }),
  inFlight: z.int(),
  failuresRunning: z.int().openapi({ description: 'Failures in a row.' }),
  failingSince: timeSchema.nullable(),
  breaker: z.enum(['closed', 'open', 'half_open']),
  probeAt: timeSchema.nullable(),
  nextAt: timeSchema.nullable().openapi({ description: 'When it is served next.' }),
  deadLetters: z.int().openapi({ description: 'Neither replayed nor discarded; at most 10,000.' }),
  attempts: z.object({
    total: z.int(),
    delivered: z.int(),
    failed: z.int(),
    capped: z.boolean().openapi({
      description: 'Whether there are more than the 10,000 counted.',
    }),
    since: timeSchema.openapi({ description: 'The start of the counted time.' }),
    lastAt: timeSchema.nullable(),
    p50Ms: z.int().nullable(),
    p95Ms: z.int().nullable(),
  }),
}).openapi('EndpointStats')
