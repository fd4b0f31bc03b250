import { z } from '../zod_openapi.ts'

export const whatsappAppParams = z.object({
  appId: z.string().regex(/^[0-9]{1,32}$/, 'is not an id of Meta, which is digits').openapi({
    param: { name: 'appId', in: 'path' },
  }),
})

/** A new or changed Meta app. */
export const newWhatsappAppSchema = z.strictObject({
  secret: z.string().min(1).max(2048).optional().openapi({
    description: 'The app secret, which signs callbacks. It is stored in Vault and never ' +
      'returned. If absent, it stays unchanged.',
  }),
  overlapSeconds: z.int().min(0).max(2_592_000).default(86_400).openapi({
    description: 'How long the previous secret stays valid.',
  }),
  allowUnsigned: z.boolean().default(false).openapi({
    description: 'Accept callbacks without a signature. Anybody can then forge a status.',
  }),
}).openapi('NewWhatsappApp')

export const whatsappAppSchema = z.object({
  appId: z.string(),
  appKey: z.string().openapi({ description: 'The last part of the callback address.' }),
  allowUnsigned: z.boolean(),
  secrets: z.int().openapi({
    description: 'The number of valid secrets: two for a while after a change.',
  }),
}).openapi('WhatsappApp')
