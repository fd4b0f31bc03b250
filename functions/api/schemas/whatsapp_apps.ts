import { z } from '@hono/zod-openapi'

export const whatsappAppParams = z.object({
  appId: z.string().regex(/^[0-9]{1,32}$/, 'is not an id of Meta, which is digits').openapi({
    param: { name: 'appId', in: 'path' },
  }),
})

/** A Meta app as it shall be. */
export const newWhatsappAppSchema = z.strictObject({
  secret: z.string().min(1).max(2048).optional().openapi({
    description: 'The app secret, which signs callbacks; kept in Vault and never shown. Absent: ' +
      'it stays what it is.',
  }),
  overlapSeconds: z.int().min(0).max(2_592_000).default(86_400).openapi({
    description: 'For how long the secret before this one still counts.',
  }),
  allowUnsigned: z.boolean().default(false).openapi({
    description: 'Take callbacks without a signature: anybody can then forge a status.',
  }),
}).openapi('NewWhatsappApp')

export const whatsappAppSchema = z.object({
  appId: z.string(),
  appKey: z.string().openapi({ description: 'The last part of the address of its callbacks.' }),
  allowUnsigned: z.boolean(),
  secrets: z.int().openapi({ description: 'How many count: two for a while after a change.' }),
}).openapi('WhatsappApp')
