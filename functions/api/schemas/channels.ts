import { z } from '../zod_openapi.ts'
import { checkNames } from '../channel_check/names.ts'
import { timeSchema, uuidSchema } from './common.ts'

const metaId = z.string().regex(/^[0-9]{1,32}$/, 'is not an id of Meta, which is digits')
const accessToken = z.string().min(1).max(2048).openapi({
  description:
    'The token of a system user of the account. It is stored in Vault and never returned.',
})

const messagesPerSecond = z.number().min(1).max(1000).optional().openapi({
  description: "WhatsApp's limit for the number: 80, unless WhatsApp has raised it.",
})
const pairSeconds = z.number().min(0).max(3600).optional().openapi({
  description:
    'Seconds between two messages to one recipient. WhatsApp allows one in 6 s for long.',
})

/** A new channel: a business number with the credentials to send from it. */
export const newChannelSchema = z.strictObject({
  phoneNumberId: metaId.openapi({
    description: "Meta's id of the phone number, not the number itself.",
    example: '100000000000001',
  }),
  wabaId: metaId.openapi({ description: 'The WhatsApp business account.' }),
  appId: metaId.openapi({
    description: 'The Meta app. Register it first with `PUT /whatsapp-apps/{appId}`.',
  }),
  accessToken,
  description: z.string().max(1000).optional(),
  messagesPerSecond,
  pairSeconds,
}).openapi('NewChannel')

/** A change of a channel; absent members stay unchanged. */
export const channelChangeSchema = z.strictObject({
  description: z.string().max(1000).optional(),
  accessToken: accessToken.optional(),
  messagesPerSecond,
  pairSeconds,
  graphVersion: z.string().regex(/^v[1-9][0-9]{0,2}\.[0-9]$/, 'is not a version like v25.0')
    .nullable().optional().openapi({
      description: 'The version for this number only; null: the setting `whatsapp.graph_version`.',
      example: 'v25.0',
    }),
  isDefault: z.literal(true).optional(),
}).refine((change) => Object.keys(change).length > 0, 'names nothing to change')
  .openapi('ChannelChange')

export const deletedChannelSchema = z.object({
  id: uuidSchema,
  open: z.int().openapi({ description: 'The number of open messages; they fail within seconds.' }),
}).openapi('DeletedChannel')

export const newTokenSchema = z.strictObject({ accessToken }).openapi('NewAccessToken')

/** A channel. It is an endpoint too: `/endpoints/{id}/pause` holds it. */
export const channelSchema = z.object({
  id: uuidSchema,
  channel: z.string(),
  description: z.string(),
  phoneNumberId: z.string(),
  wabaId: z.string(),
  appId: z.string(),
  isDefault: z.boolean(),
  quality: z.string().nullable(),
  status: z.enum(['enabled', 'paused', 'disabled']),
  statusReason: z.string().nullable().openapi({
    description: 'Starts with `held:` if an error of the account holds the channel.',
  }),
  messagesPerSecond: z.number(),
  graphVersion: z.string().nullable().openapi({
    description: 'Null: the setting `whatsapp.graph_version`.',
  }),
  pairSeconds: z.number(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
}).openapi('Channel')

export const channelsSchema = z.object({ data: z.array(channelSchema) }).openapi('Channels')

const findingSchema = z.object({
  name: z.enum(checkNames),
  result: z.enum(['ok', 'warning', 'failed', 'unknown']).openapi({
    description:
      '`warning`: messages are sent, but somebody should act. `unknown`: it could not be ' +
      'checked, for example because Meta did not respond.',
  }),
  code: z.string().nullable().openapi({
    description: 'The error code of the Graph API; null if it gave none.',
  }),
  detail: z.string(),
  remedy: z.string().nullable().openapi({ description: 'Null: nothing needs to be done.' }),
})

/** What the check of a channel found. */
export const channelCheckSchema = z.object({
  id: uuidSchema,
  ok: z.boolean().openapi({ description: 'Whether no result is `failed` or `unknown`.' }),
  checkedAt: timeSchema,
  checks: z.array(findingSchema),
}).openapi('ChannelCheck')

export const channelParams = z.object({
  channelId: uuidSchema.openapi({ param: { name: 'channelId', in: 'path' } }),
})
