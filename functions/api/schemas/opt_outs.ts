import { z } from '../zod_openapi.ts'
import { identifier } from '../../_shared/messages/whatsapp/phone.ts'
import { pageOf, pageQuery, timeSchema } from './common.ts'

/** A number, a wa_id or a user id of WhatsApp. */
export const recipient = z.string().max(200).refine((text) => identifier(text) !== null, {
  message: 'is not a phone number with + and country code, a wa_id or a user id of WhatsApp',
}).openapi({
  example: '+12025550111',
  description: 'A phone number, a wa_id (digits) or a user id of WhatsApp (US.1349…).',
})

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

export const optOutSchema = z.object({
  personId: z.string(),
  recipient: z.string().nullable().openapi({
    description: 'The first of `recipients`; null if the person was erased.',
  }),
  recipients: z.array(z.string()).openapi({
    description: 'All numbers and user ids of the person. The opt-out applies to all of them.',
  }),
  channel: z.string(),
  purpose,
  source: z.string(),
  evidence: z.string().nullable().openapi({ description: 'As somebody noted it.' }),
  wamid: z.string().nullable().openapi({
    description: "WhatsApp's id of the message; a hash after the person was erased.",
  }),
  words: z.string().nullable().openapi({ description: 'What the person or WhatsApp said.' }),
  at: timeSchema,
}).openapi('OptOut')

export const optOutPageSchema = pageOf(optOutSchema).openapi('OptOutPage')

export const optOutChangeSchema = z.object({
  optedOut: z.boolean(),
  purpose: z.string(),
  isNew: z.boolean().openapi({ description: 'Whether this call changed it.' }),
}).openapi('OptOutChange')
