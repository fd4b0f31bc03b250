import { z } from '@hono/zod-openapi'
import { e164 } from '../../_shared/messages/whatsapp/phone.ts'
import { pageOf, pageQuery, timeSchema } from './common.ts'

const recipient = z.string().max(40).refine((text) => e164(text) !== null, {
  message: 'is not a phone number with + and country code',
}).openapi({ example: '+12025550111' })

const purpose = z.enum(['ALL', 'MARKETING']).openapi({
  description:
    'ALL: no messages are sent; MARKETING: only messages that are not marketing are sent.',
})

export const optOutParams = z.object({
  recipient: recipient.openapi({ param: { name: 'recipient', in: 'path' } }),
})

export const optOutQuery = z.strictObject({ ...pageQuery, recipient: recipient.optional() })

/** A recipient's choice to get no more messages. */
export const newOptOutSchema = z.strictObject({
  purpose: purpose.default('ALL'),
  source: z.string().min(1).max(200).openapi({
    description: 'How the recipient opted out.',
    example: 'phone call',
  }),
  evidence: z.string().min(1).max(2000).optional().openapi({
    description: 'Where the evidence is stored.',
  }),
}).openapi('NewOptOut')

export const optInQuery = z.strictObject({
  purpose: purpose.default('ALL'),
  source: z.string().min(1).max(200).optional().openapi({
    param: { description: 'How the recipient opted in.' },
  }),
})

const optOut = z.object({
  recipient: z.string().openapi({
    description: "The phone number, or WhatsApp's id of a user who hides the number.",
  }),
  channel: z.string(),
  purpose,
  source: z.string(),
  evidence: z.string().nullable(),
  at: timeSchema,
})

export const optOutPageSchema = pageOf(optOut).openapi('OptOutPage')

export const optOutChangeSchema = z.object({
  optedOut: z.boolean(),
  purpose: z.string(),
  isNew: z.boolean().openapi({ description: 'Whether this call changed it.' }),
}).openapi('OptOutChange')
