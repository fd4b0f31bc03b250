import { z } from '../zod_openapi.ts'
import { timeSchema } from './common.ts'

export const consumersQuery = z.strictObject({
  eventId: z.string().min(1).max(255).optional().openapi({
    param: { description: 'An event or message id: `acceptedAt` says who has processed it.' },
  }),
})

const consumer = z.object({
  consumer: z.string().openapi({ description: 'Its name.', example: 'billing' }),
  recent: z.int().openapi({
    description: 'How many of the newest 10,000 processed events are its.',
  }),
  lastAt: timeSchema.nullable().openapi({
    description: 'The newest of these; null if none of them is its.',
  }),
  acceptedAt: timeSchema.nullable().openapi({
    description: 'When it processed `eventId`; null if it has not, or if none was given.',
  }),
})

/** The consumers of the project. The inbox knows no organisation. */
export const consumersSchema = z.object({
  data: z.array(consumer).openapi({ description: 'The first 200 by name.' }),
  recentSince: timeSchema.nullable().openapi({
    description: 'The time of the oldest of the newest 10,000; null if the inbox is empty.',
  }),
  isWhole: z.boolean().openapi({ description: 'Whether the inbox has no more than these.' }),
}).openapi('Consumers')
