import { z } from '../zod_openapi.ts'
import { pageOf, pageQuery, timeSchema, uuidSchema } from './common.ts'
import { numberIdSchema } from './messages.ts'
import { recipient } from './opt_outs.ts'

const inboundMessage = z.object({
  id: numberIdSchema,
  channelId: uuidSchema,
  personId: z.string().nullable(),
  senders: z.array(z.string()).openapi({
    description:
      'All numbers and user ids of the sender; empty if the person was erased, or without ' +
      'the scope `consents:read`.',
  }),
  type: z.string().openapi({ example: 'text' }),
  text: z.string().nullable().openapi({ description: 'The readable text, until it is erased.' }),
  replyTo: numberIdSchema.nullable().openapi({ description: 'The message that it replies to.' }),
  sentAt: timeSchema,
  receivedAt: timeSchema,
  erasedAt: timeSchema.nullable(),
}).openapi('InboundMessage')

export const inboundPageSchema = pageOf(inboundMessage).openapi('InboundMessagePage')

export const inboundQuery = z.strictObject({
  ...pageQuery,
  from: recipient.optional().openapi({
    param: { description: 'Only messages of the person with this number, wa_id or user id.' },
  }),
  channelId: uuidSchema.optional(),
})
