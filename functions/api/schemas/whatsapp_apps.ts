import { z } from '@hono/zod-openapi'

export const whatsappAppParams = z.object({
  appId: z.string().regex(/^[0-9]{1,32}$/, 'is not an id of Meta: expected digits').openapi({
    param: { name: 'appId', in: 'path' },
  }),
})

/** The settings of a Meta app. */
export const newWhatsappAppSchema = z.strictObject({
  secret: z.string().min(1).max(2048).optional().openapi({
    description:
      'The app secret, which signs callbacks; stored in Vault, never returned. Absent: ' +
      'it stays.',
  }),
  overlapSeconds: z.int().min(0).max(2_592_000).default(86_400).openapi({
    description: 'How long the previous secret stays valid.',
  }),
  allowUnsigned: z.boolean().default(false).openapi({
    description: 'Accept callbacks without a signature: then anybody can forge a status.',
  }),
}).openapi('NewWhatsappApp')

export const whatsappAppSchema = z.object({
  appId: z.string(),
  appKey: z.string().openapi({ description: 'The last part of its callback URL.' }),
  allowUnsigned: z.boolean(),
  secrets: z.int().openapi({ description: 'Valid secrets: two for a while after a change.' }),
}).openapi('WhatsappApp')
