import { z } from '../zod_openapi.ts'
import { freePayload } from '../../_shared/messages/whatsapp/payload.ts'
import { templatePayload } from '../../_shared/messages/whatsapp/template_payload.ts'
import { e164 } from '../../_shared/messages/whatsapp/phone.ts'
import { correlationIdSchema, pageOf, pageQuery, timeSchema, uuidSchema } from './common.ts'

/** The schemas by the names that openapi.json gives them. */
export const payloadSchemas = { FreePayload: freePayload, TemplatePayload: templatePayload }

/** Numeric ids. They are text in JSON, because its numbers are not exact enough. */
export const numberIdSchema = z.string().regex(/^[1-9][0-9]{0,17}$/, 'is not an id').openapi({
  example: '4711',
})

/** `WHATSAPP`, or a channel that a module of the installation adds. */
export const channelName = z.string().regex(
  /^[A-Z][A-Z0-9_]{0,30}$/,
  'is not the name of a channel',
)
  .openapi({ example: 'WHATSAPP' })
export const dossierIdSchema = z.string().regex(/^[\x21-\x7e]{1,128}$/, {
  message: 'is not 1 to 128 visible characters',
}).openapi({ example: 'dossier-12' })

export const templateCodeSchema = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, {
  message: 'is not the code of a template',
}).openapi({ example: 'appointment_reminder' })

const recipient = z.string().max(40).refine((text) => e164(text) !== null, {
  message: 'is not a phone number with + and country code',
}).openapi({ example: '+12025550111' })

/** A new message. The form of `payloadJson` depends on whether there is a templateCode. */
export const newMessageSchema = z.strictObject({
  dossierId: dossierIdSchema.optional().openapi({
    description:
      'The dossier of the recipient. Its consent is checked, and its activity is recorded.',
  }),
  channel: channelName,
  channelId: uuidSchema.optional().openapi({
    description: 'The channel to send from; the default channel if absent.',
  }),
  to: recipient,
  correlationId: correlationIdSchema.optional().openapi({
    description:
      'Your own text for related messages and events. The events of the message have it.',
    example: 'cart-7',
  }),
  templateCode: templateCodeSchema.optional().openapi({
    description: 'The template. Without one, messages are allowed only in the 24-hour window.',
  }),
  payloadJson: z.record(z.string(), z.unknown()).openapi({
    description: 'For WhatsApp: TemplatePayload with a templateCode, otherwise FreePayload. ' +
      'Other channels have a form of their own.',
    anyOf: [
      ...Object.keys(payloadSchemas).map((name) => ({ $ref: `#/components/schemas/${name}` })),
      { type: 'object' },
    ],
  }),
}).superRefine(({ channel, templateCode, payloadJson }, context) => {
  // The database has the rules of other channels.
  if (channel !== 'WHATSAPP') return
  const schema = templateCode === undefined ? freePayload : templatePayload
  for (const { path, message } of schema.safeParse(payloadJson).error?.issues ?? []) {
    context.addIssue({ code: 'custom', path: ['payloadJson', ...path], message })
  }
}).openapi('NewMessage', {
  example: {
    dossierId: 'dossier-12',
    channel: 'WHATSAPP',
    to: '+12025550111',
    templateCode: 'appointment_reminder',
    payloadJson: { parameters: ['Anna', '3 March'] },
  },
})

export const messageStatus = z.enum([
  'QUEUED',
  'SENDING',
  'SENT',
  'DELIVERED',
  'FAILED',
  'CANCELLED',
])

/** A message. */
export const messageSchema = z.object({
  id: numberIdSchema,
  dossierId: z.string().nullable(),
  channel: z.string(),
  channelId: uuidSchema,
  to: z.string().openapi({
    description: 'The phone number; `erased` after the retention time of messages.',
  }),
  templateCode: z.string().nullable(),
  payloadJson: z.record(z.string(), z.unknown()),
  category: z.string().openapi({
    description: 'The category of the template; SERVICE without a template.',
  }),
  status: messageStatus,
  providerMessageId: z.string().nullable(),
  idempotencyKey: z.string(),
  correlationId: z.string().nullable(),
  attemptCount: z.int(),
  maxAttempts: z.int(),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  createdBy: z.string().nullable(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
  sentAt: timeSchema.nullable(),
  deliveredAt: timeSchema.nullable(),
  readAt: timeSchema.nullable(),
  erasedAt: timeSchema.nullable(),
  copies: z.int().openapi({
    description: 'How many attempts WhatsApp reports as delivered, whatever the status.',
  }),
}).openapi('Message')

const messageAttempt = z.object({
  attemptNo: z.int(),
  status: z.enum(['TRYING', 'SUCCESS', 'FAILED']),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  providerResponse: z.record(z.string(), z.unknown()).nullable(),
  providerMessageId: z.string().nullable(),
  nextRetryAt: timeSchema.nullable(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

/** A message with its attempts, the first one first. */
export const messageDetailSchema = messageSchema.extend({
  attempts: z.array(messageAttempt),
}).openapi('MessageDetail')

export const messagePageSchema = pageOf(messageSchema).openapi('MessagePage')

export const messageQuery = z.strictObject({
  ...pageQuery,
  dossierId: dossierIdSchema.optional(),
  status: messageStatus.optional(),
  channel: channelName.optional(),
  to: recipient.optional().openapi({
    param: { description: 'Only messages to this number, until they are erased.' },
  }),
  idempotencyKey: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters')
    .optional(),
  correlationId: correlationIdSchema.optional(),
  from: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only messages created at this time or later.' },
  }),
  until: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Only messages created before this time.' },
  }),
})

export const resendQuery = z.strictObject({
  force: z.enum(['true', 'false']).optional().openapi({
    param: { description: 'true: also if WhatsApp reports that the failed message arrived.' },
  }),
})

/** The number of messages in each status. */
export const messageCountsSchema = z.record(messageStatus, z.int()).openapi('MessageCounts')

export const messageParams = z.object({
  messageId: numberIdSchema.openapi({ param: { name: 'messageId', in: 'path' } }),
})

/** `Idempotency-Key` of a message. It is stored as long as the message. */
export const messageKeyHeader = z.object({
  'idempotency-key': z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters')
    .optional().openapi({
      param: {
        description:
          'A repeat with the same key returns the first message, as long as it is stored. A ' +
          'different message with the same key is refused. A key is generated if absent.',
      },
      example: 'reminder-4711',
    }),
})

/** The result of a create: a new message, the message of the same key, or a refusal. */
export const createdMessageSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), message: messageSchema }),
  z.object({ outcome: z.literal('existing'), message: messageSchema }),
  z.object({ outcome: z.literal('blocked'), code: z.string(), reason: z.string() }),
])
