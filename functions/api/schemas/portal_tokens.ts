import { z } from '@hono/zod-openapi'
import { timeSchema } from './common.ts'

export const newPortalTokenSchema = z.strictObject({
  role: z.enum(['viewer', 'operator']).default('viewer'),
  expiresInSeconds: z.int().min(60).max(86_400).default(3600),
  subject: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters').default(
    'portal',
  ).openapi({ description: 'Who uses the token; logs contain it.' }),
}).openapi('NewPortalToken', { example: { role: 'operator', expiresInSeconds: 3600 } })

export const portalTokenSchema = z.object({
  token: z.string().openapi({ description: 'Send it as `Authorization: Bearer <token>`.' }),
  orgId: z.string(),
  role: z.enum(['viewer', 'operator']),
  expiresAt: timeSchema,
}).openapi('PortalToken')
