import { z } from '../zod_openapi.ts'
import { allScopes, customerPage, type Scope } from '../auth/scopes.ts'
import { pageOf, pageQuery, timeSchema, uuidSchema } from './common.ts'

/** A portal token cannot create further ones, which would outlive it. */
const portalScopes = allScopes.filter((scope) => scope !== 'portal-tokens:write')

export const newPortalTokenSchema = z.strictObject({
  scopes: z.array(z.enum(portalScopes)).min(1).max(portalScopes.length).optional().openapi({
    description: `What the token may do. The default is what a page for a customer needs: ${
      customerPage.join(', ')
    }.`,
  }),
  endpointIds: z.array(uuidSchema).min(1).max(50).optional().openapi({
    description: 'Limits the token to these endpoints. It then creates none and reads no events.',
  }),
  eventTypes: z.array(
    z.string().regex(
      /^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$/,
      'is not an event type, a prefix such as order.*, or *',
    ).max(128),
  ).min(1).max(50).optional().openapi({
    description:
      'Limits the token to events of these types, and to endpoints that receive no others.',
    example: ['order.*'],
  }),
  expiresInSeconds: z.int().min(60).max(86_400).default(3600),
  subject: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'is not 1 to 128 visible characters').default(
    'portal',
  ).openapi({ description: 'Who uses the token; logs contain it.' }),
}).openapi('NewPortalToken', {
  example: { scopes: ['endpoints:read', 'deliveries:read'], expiresInSeconds: 3600 },
})

export const portalTokenSchema = z.object({
  id: uuidSchema.openapi({ description: 'Revokes the token.' }),
  token: z.string().openapi({ description: 'Send it as `Authorization: Bearer <token>`.' }),
  orgId: z.string(),
  scopes: z.array(z.custom<Scope>()).openapi({ type: 'array', items: { type: 'string' } }),
  endpointIds: z.array(uuidSchema).nullable(),
  eventTypes: z.array(z.string()).nullable(),
  expiresAt: timeSchema,
}).openapi('PortalToken')

export const portalTokenParams = z.object({
  tokenId: uuidSchema.openapi({ param: { name: 'tokenId', in: 'path' } }),
})

export const revokedTokenSchema = z.object({
  id: uuidSchema,
  revokedAt: timeSchema,
}).openapi('RevokedPortalToken')

export const revokedTokenPageSchema = pageOf(revokedTokenSchema).openapi('RevokedPortalTokenPage')
export const revokedTokensQuery = z.strictObject(pageQuery)

export const revokedAllSchema = z.object({
  revokedAt: timeSchema,
}).openapi('RevokedPortalTokens')
