import { z } from '@hono/zod-openapi'
import { freePayload } from '../../_shared/messages/whatsapp/payload.ts'
import { templatePayload } from '../../_shared/messages/whatsapp/template_payload.ts'
import { e164 } from '../../_shared/messages/whatsapp/phone.ts'
import { pageOf, pageQuery, timeSchema, uuidSchema } from './common.ts'

/** The schemas by the names that openapi.json gives them. */
export const payloadSchemas = { FreePayload: freePayload, TemplatePayload: templatePayload }

/** Ids that count up: text over the wire, for JSON's numbers are not exact enough. */
export const numberIdSchema = z.string().regex(/^[1-9][0-9]{0,17}$/, 'is not an id').openapi({
  example: '4711',
})

export const channelName = z.literal('WHATSAPP')
export const dossierIdSchema = z.string().regex(/^[\x21-\x7e]{1,128}$/, {
  message: 'is not 1 to 128 visible characters',
}).openapi({ example: 'dossier-12' })

export const templateCodeSchema = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, {
  message: 'is not the code of a template',
}).openapi({ example: 'appointment_reminder' })

const recipient = z.string().max(40).refine((text) => e164(text) !== null, {
  message: 'is not a phone number with + and country code',
}).openapi({ example: '+12025550111' })

/** A new message. What `payloadJson` may hold depends on whether a template is named. */
export const newMessageSchema = z.strictObject({
  dossierId: dossierIdSchema.optional().openapi({
    description: 'Whom it is about: its consent is asked, and its activity told.',
  }),
  channel: channelName,
  channelId: uuidSchema.optional().openapi({
    description: 'The channel to send from; absent: the one that is the default.',
  }),
  to: recipient,
  templateCode: templateCodeSchema.optional().openapi({
    description: 'Absent: the message needs no template, inside the 24-hour window alone.',
  }),
  payloadJson: z.record(z.string(), z.unknown()).openapi({
    description: 'TemplatePayload with a templateCode, else FreePayload.',
    oneOf: Object.keys(payloadSchemas).map((name) => ({ $ref: `#/components/schemas/${name}` })),
  }),
}).superRefine(({ templateCode, payloadJson }, context) => {
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
  to: z.string().openapi({ description: '`erased` after the time that messages are kept.' }),
  templateCode: z.string().nullable(),
  payloadJson: z.record(z.string(), z.unknown()),
  category: z.string().openapi({ description: "The template's, or SERVICE without one." }),
  status: messageStatus,
  providerMessageId: z.string().nullable(),
  idempotencyKey: z.string(),
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
  from: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Made at this moment or later.' },
  }),
  until: z.iso.datetime({ offset: true }).optional().openapi({
    param: { description: 'Made before this moment.' },
  }),
})

/** How many messages there are of each status. */
export const messageCountsSchema = z.record(messageStatus, z.int()).openapi('MessageCounts')

export const messageParams = z.object({
  messageId: numberIdSchema.openapi({ param: { name: 'messageId', in: 'path' } }),
})

/** `Idempotency-Key` of a message, which is kept as long as the message. */
export const messageKeyHeader = z.object({
  'idempotency-key': z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters')
    .optional().openapi({
      param: {
        description:
          "A repeat with the same key is answered with the first one's message, as long as it " +
          'is there. With the same key another message is refused. Made when absent.',
      },
      example: 'reminder-4711',
    }),
})

/** What becomes of a create: a new message, the one of the same key, or a refusal. */
export const createdMessageSchema = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('created'), message: messageSchema }),
  z.object({ outcome: z.literal('existing'), message: messageSchema }),
  z.object({ outcome: z.literal('blocked'), code: z.string(), reason: z.string() }),
])
