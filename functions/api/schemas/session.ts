import { z } from '../zod_openapi.ts'
import { allScopes } from '../auth/scopes.ts'
import { timeSchema, uuidSchema } from './common.ts'

/** The caller as the API sees it. */
export const sessionSchema = z.object({
  orgId: z.string(),
  kind: z.enum(['key', 'user', 'portal']).openapi({
    description: 'Whether the caller has a secret key, the token of a user or a portal token.',
  }),
  scopes: z.array(z.enum(allScopes)).openapi({
    description: 'What the caller may do. A page shows only this.',
    example: ['endpoints:read', 'deliveries:read'],
  }),
  endpointIds: z.array(uuidSchema).nullable().openapi({
    description: 'The endpoints that the token is limited to; null: no limit of this kind.',
  }),
  eventTypes: z.array(z.string()).nullable().openapi({
    description: 'The event types that the token is limited to; null: no limit of this kind.',
  }),
  expiresAt: timeSchema.nullable().openapi({
    description: 'When the token expires; null for a secret key.',
  }),
  expiresInSeconds: z.number().nullable().openapi({
    description: 'The same as a span, for a page whose clock is wrong.',
  }),
}).openapi('Session')
