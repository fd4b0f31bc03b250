import { z } from '../zod_openapi.ts'
import { eventTypeName, pageOf, pageQuery, timeSchema, uuidSchema } from './common.ts'

const status = z.enum(['open', 'replayed', 'delivered', 'discarded']).openapi({
  description:
    'open: not replayed or discarded; replayed: sent again; delivered: replayed and delivered; discarded: it will not be sent.',
})

const members = {
  id: uuidSchema,
  eventId: uuidSchema,
  endpointId: uuidSchema,
  eventType: z.string().openapi({ example: 'order.paid' }),
  partitionKey: z.string().nullable(),
  correlationId: z.string(),
  idempotencyKey: z.string().nullable(),
  eventCreatedAt: timeSchema,
  why: z.string().openapi({
    description: 'Why the delivery became a dead letter.',
    example: 'out_of_retries',
  }),
  error: z.string().openapi({ description: 'The error of the last attempt.' }),
  retryCount: z.int().openapi({ description: 'The number of failed attempts.' }),
  attempt: z.int().openapi({ description: 'The number of the last attempt.' }),
  failedAt: timeSchema,
  status,
  replayedAt: timeSchema.nullable(),
  deliveredAt: timeSchema.nullable(),
  discardedAt: timeSchema.nullable(),
  note: z.string().nullable().openapi({ description: 'Why it was discarded.' }),
}

/** A dead letter without its body, as in lists. */
export const deadLetterSchema = z.object(members).openapi('DeadLetter')

/** A dead letter with its body. */
export const wholeDeadLetterSchema = z.object({
  ...members,
  body: z.string().openapi({
    description: "The event's JSON as text, byte for byte.",
    example: '{"orderId": 42}',
  }),
}).openapi('WholeDeadLetter')

export const deadLetterPageSchema = pageOf(deadLetterSchema).openapi('DeadLetterPage')

/** The error of a group: characters as the database counts them, not UTF-16 code units. */
export const groupErrorSchema = z.string().refine((text) => [...text].length <= 200, {
  error: 'has more than 200 characters',
}).openapi({ maxLength: 200 })

/** The dead letters that wait for a decision, by endpoint and error. */
export const deadLetterGroupsSchema = z.object({
  data: z.array(z.object({
    endpointId: uuidSchema,
    error: z.string().openapi({ description: 'The first 200 characters of the error.' }),
    count: z.int().openapi({ description: 'How many dead letters the group has.' }),
    firstAt: timeSchema.openapi({ description: 'When the first one failed.' }),
    lastAt: timeSchema.openapi({ description: 'When the last one failed.' }),
  })),
  isWhole: z.boolean().openapi({
    description:
      'false if more dead letters wait than the 20,000 that are counted, the newest of each endpoint, ' +
      'or there are more than 100 groups.',
  }),
}).openapi('DeadLetterGroups')

export const deadLetterGroupsQuery = z.strictObject({
  endpointId: uuidSchema.optional(),
  from: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only those that failed at this time or later.' },
  }),
})

export const deadLetterParams = z.object({
  deadLetterId: uuidSchema.openapi({ param: { name: 'deadLetterId', in: 'path' } }),
})

export const deadLetterQuery = z.strictObject({
  ...pageQuery,
  endpointId: uuidSchema.optional(),
  eventType: eventTypeName.optional(),
  status: status.optional(),
  error: groupErrorSchema.optional().openapi({
    param: {
      description:
        'Only those whose error has these first 200 characters, as in `GET /dead-letter-groups`.',
    },
  }),
  from: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only those that failed at this time or later.' },
  }),
  to: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only those that failed before this time.' },
  }),
})

export const discardSchema = z.strictObject({
  reason: z.string().trim().min(1).max(1000).openapi({ example: 'The customer has left' }),
}).openapi('Discard')
