import * as z from 'zod'
import { interactive } from './interactive.ts'
import { checkMedia, media, messageId, place, text } from './parts.ts'

/** The id of the message to quote. */
const replyTo = messageId.optional()
const caption = text(1024).optional()

/** A message without a template; WhatsApp accepts it only inside the 24-hour window. */
export const freePayload = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('text'),
    text: text(4096),
    previewUrl: z.boolean().optional(),
    replyTo,
  }),
  z.strictObject({ type: z.literal('image'), ...media, caption, replyTo }).superRefine(checkMedia),
  z.strictObject({ type: z.literal('video'), ...media, caption, replyTo }).superRefine(checkMedia),
  z.strictObject({ type: z.literal('audio'), ...media, replyTo }).superRefine(checkMedia),
  z.strictObject({
    type: z.literal('document'),
    ...media,
    caption,
    filename: text(240).optional(),
    replyTo,
  }).superRefine(checkMedia),
  interactive,
  z.strictObject({ type: z.literal('location'), ...place, replyTo }),
  z.strictObject({
    type: z.literal('reaction'),
    messageId,
    /** Empty removes the reaction. */
    emoji: z.string().max(32),
  }),
])

export type FreePayload = z.infer<typeof freePayload>
