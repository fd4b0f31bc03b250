import { z } from '@hono/zod-openapi'
import { e164 } from '../../_shared/messages/whatsapp/phone.ts'
import { pageOf, pageQuery, timeSchema } from './common.ts'

const recipient = z.string().max(40).refine((text) => e164(text) !== null, {
  message: 'is not a phone number with + and country code',
}).openapi({ example: '+12025550111' })

const purpose = z.enum(['ALL', 'MARKETING']).openapi({
  description: 'MARKETING: what is no marketing is still sent.',
})

export const optOutParams = z.object({
  recipient: recipient.openapi({ param: { name: 'recipient', in: 'path' } }),
})

export const optOutQuery = z.strictObject({ ...pageQuery, recipient: recipient.optional() })

/** A person's wish to be sent nothing more. */
export const newOptOutSchema = z.strictObject({
  purpose: purpose.default('ALL'),
  source: z.string().min(1).max(200).openapi({
    description: 'How it was said.',
    example: 'phone call',
  }),
  evidence: z.string().min(1).max(2000).optional().openapi({
    description: 'Where what shows it can be found.',
  }),
}).openapi('NewOptOut')

export const optInQuery = z.strictObject({
  purpose: purpose.default('ALL'),
  source: z.string().min(1).max(200).optional().openapi({
    param: { description: 'How it was said.' },
  }),
})

const optOut = z.object({
  recipient: z.string().openapi({
    description: "The number, or WhatsApp's id of a person who hides theirs.",
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
  isNew: z.boolean().openapi({ description: 'It was otherwise before.' }),
}).openapi('OptOutChange')
