import { z } from '../zod_openapi.ts'
import { timeSchema } from './common.ts'
import { optOutSchema, recipient } from './opt_outs.ts'

export const personParams = z.object({
  recipient: recipient.openapi({ param: { name: 'recipient', in: 'path' } }),
})

export const personSchema = z.object({
  id: z.string(),
  recipients: z.array(z.string()).openapi({
    description: 'All numbers and user ids of the person; empty if the person was erased.',
  }),
  name: z.string().nullable(),
  username: z.string().nullable(),
  optOuts: z.array(optOutSchema),
  windows: z.array(z.object({ channelId: z.string(), expiresAt: timeSchema })).openapi({
    description: 'Until when each channel may send the person messages without a template.',
  }),
  firstSeenAt: timeSchema,
  lastSeenAt: timeSchema,
}).openapi('Person')

export const partSchema = z.strictObject({
  recipients: z.array(recipient).min(1).max(100).openapi({
    description: 'The identifiers that leave the person and become a person of their own.',
  }),
}).openapi('PartPerson')

export const partedSchema = z.object({ person: personSchema, parted: personSchema })
  .openapi('PartedPerson')
