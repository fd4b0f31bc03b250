import { z } from '../zod_openapi.ts'
import { auditEventSchema } from './audit_events.ts'
import { correlationIdSchema } from './common.ts'
import { deadLetterSchema } from './dead_letters.ts'
import { deliverySchema } from './deliveries.ts'
import { eventSchema } from './events.ts'
import { messageSchema } from './messages.ts'

export const searchQuery = z.strictObject({
  correlationId: correlationIdSchema.optional().openapi({
    param: {
      description:
        'The correlation id of an event or of a message, or the id of an event without one.',
    },
  }),
  idempotencyKey: z.string().regex(/^[\x21-\x7e]{1,255}$/, 'is not 1 to 255 visible characters')
    .optional().openapi({
      param: { description: 'The idempotency key of an event or of a message.' },
    }),
  limit: z.coerce.number().int().min(1).max(100).default(50).openapi({
    param: { description: 'The maximum number of items in each list.' },
  }),
})

/** What was found, each list newest first. */
export const foundSchema = z.object({
  events: z.array(eventSchema),
  deliveries: z.array(deliverySchema).openapi({ description: 'Of these events.' }),
  deadLetters: z.array(deadLetterSchema).openapi({
    description: 'Dead letters are stored longer than their events.',
  }),
  messages: z.array(messageSchema),
  auditEvents: z.array(auditEventSchema).openapi({
    description: 'Of these messages, and of messages with this correlation id that were refused.',
  }),
  more: z.boolean().openapi({
    description: 'Whether one of the lists has more than `limit`.',
  }),
}).openapi('Found')
