import { z } from '../zod_openapi.ts'
import { timeSchema, uuidSchema } from './common.ts'

export const pauseSchema = z.strictObject({
  reason: z.string().min(1).max(500).optional(),
}).openapi('Pause', { example: { reason: 'The receiver is being rebuilt' } })

/** The outcome of a test event. */
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

/** The statistics of an endpoint. */
export const endpointStatsSchema = z.object({
  endpointId: uuidSchema,
  open: z.int().openapi({ description: 'The number of deliveries that are not finished.' }),
  inFlight: z.int(),
  failuresRunning: z.int().openapi({ description: 'Consecutive failures.' }),
  failingSince: timeSchema.nullable(),
  breaker: z.enum(['closed', 'open', 'half_open']),
  probeAt: timeSchema.nullable(),
  nextAt: timeSchema.nullable().openapi({ description: 'When its next deliveries are sent.' }),
  deadLetters: z.int().openapi({
    description: 'Those not replayed or discarded; counted up to 10,000.',
  }),
  attempts: z.object({
    total: z.int(),
    delivered: z.int(),
    failed: z.int(),
    capped: z.boolean().openapi({
      description: 'Whether there were more than the 10,000 counted.',
    }),
    since: timeSchema.openapi({ description: 'The start of the counted period.' }),
    lastAt: timeSchema.nullable(),
    p50Ms: z.int().nullable(),
    p95Ms: z.int().nullable(),
  }),
}).openapi('EndpointStats')
