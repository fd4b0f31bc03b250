import { z } from '@hono/zod-openapi'
import { timeSchema, uuidSchema } from './common.ts'

const metaId = z.string().regex(/^[0-9]{1,32}$/, 'is not an id of Meta, which is digits')
const accessToken = z.string().min(1).max(2048).openapi({
  description: 'Of a system user of the account; kept in Vault and never shown.',
})

/** A new channel: a business number and the means to send from it. */
export const newChannelSchema = z.strictObject({
  phoneNumberId: metaId.openapi({
    description: "Meta's id of the number, not the number.",
    example: '100000000000001',
  }),
  wabaId: metaId.openapi({ description: 'The WhatsApp business account.' }),
  appId: metaId.openapi({ description: 'The Meta app, which `put_whatsapp_app()` makes known.' }),
  accessToken,
  description: z.string().max(1000).optional(),
  messagesPerSecond: z.number().min(1).max(1000).optional().openapi({
    description: "WhatsApp's limit for the number; 80 unless it was raised.",
  }),
  pairSeconds: z.number().min(0).max(3600).optional().openapi({
    description: 'Between two messages to one person; 6 is what WhatsApp allows for long.',
  }),
}).openapi('NewChannel')

export const newTokenSchema = z.strictObject({ accessToken }).openapi('NewAccessToken')

/** A channel. It is an endpoint too: `/endpoints/{id}/pause` and `resume` hold and release it. */
export const channelSchema = z.object({
  id: uuidSchema,
  channel: z.string(),
  description: z.string(),
  phoneNumberId: z.string(),
  wabaId: z.string(),
  appId: z.string(),
  isDefault: z.boolean(),
  quality: z.string().nullable(),
  state: z.enum(['enabled', 'paused', 'disabled']),
  stateReason: z.string().nullable().openapi({
    description: 'Begins with `held:` where an error of the account has stopped it.',
  }),
  ratePerSecond: z.number().nullable(),
  pairSeconds: z.number(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
}).openapi('Channel')

export const channelsSchema = z.object({ data: z.array(channelSchema) }).openapi('Channels')

export const channelParams = z.object({
  channelId: uuidSchema.openapi({ param: { name: 'channelId', in: 'path' } }),
})
