import { z } from '../zod_openapi.ts'
import { pageOf, pageQuery, timeSchema, uuidSchema } from './common.ts'

const outcome = z.enum(['delivered', 'failed'])

/** An attempt in a list of all endpoints. */
const orgAttemptSchema = z.object({
  deliveryId: z.string().openapi({
    description: 'The ids of the event and the endpoint, separated by a dot.',
  }),
  eventId: uuidSchema,
  endpointId: uuidSchema,
  eventType: z.string().nullable().openapi({
    description: 'Null if the event is no longer stored.',
  }),
  attempt: z.int(),
  at: timeSchema,
  outcome,
  status: z.int().nullable().openapi({ description: 'The HTTP status.' }),
  errorClass: z.string().nullable(),
  error: z.string().nullable(),
  durationMs: z.int().nullable(),
  sinceEventMs: z.int().openapi({
    description: 'The time from the event to the end of the attempt, in milliseconds.',
  }),
}).openapi('OrgAttempt')
export const orgAttemptPageSchema = pageOf(orgAttemptSchema).openapi('OrgAttemptPage')

const time = z.iso.datetime({ offset: true }).optional()

export const orgAttemptsQuery = z.strictObject({
  ...pageQuery,
  from: time.openapi({ param: { description: 'Only attempts at this time or later.' } }),
  to: time.openapi({ param: { description: 'Only attempts before this time.' } }),
  outcome: outcome.optional().openapi({
    param: { description: 'Only attempts that delivered, or only those that failed.' },
  }),
  endpointId: uuidSchema.optional(),
})
