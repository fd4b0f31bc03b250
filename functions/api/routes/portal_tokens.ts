import { createRoute, z } from '@hono/zod-openapi'
import { signPortalToken } from '../auth/portal.ts'
import type { ApiApp, ApiDeps } from '../context.ts'
import { ApiError } from '../errors.ts'
import { idempotencyKeyHeader } from '../schemas/common.ts'
import { newPortalTokenSchema, portalTokenSchema } from '../schemas/portal_tokens.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const mint = createRoute({
  method: 'post',
  path: '/portal-tokens',
  operationId: 'createPortalToken',
  summary: "Create a short-lived token for a customer's browser",
  tags: ['Portal tokens'],
  ...needs('admin'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(newPortalTokenSchema) },
  responses: {
    ...problems('not_configured', 'idempotency_conflict'),
    201: jsonResponse(portalTokenSchema, 'A token for one organisation'),
  },
})

/** The claims that distinguish a token from another one with the same content. */
const mark = z.object({ id: z.string(), issuedAt: z.int() })

/** `/portal-tokens`. */
export function addPortalTokenRoutes(
  app: ApiApp,
  { database, portalSecrets, wallNow }: ApiDeps,
): void {
  app.openapi(mint, async (c) => {
    const [secret] = portalSecrets
    if (secret === undefined) {
      throw new ApiError('not_configured', 'OUTHOOK_PORTAL_SECRET is not set', {
        remedy: 'Set it to 32 random bytes: openssl rand -hex 32',
      })
    }
    const { role, expiresInSeconds, subject } = c.req.valid('json')
    const { orgId } = c.get('principal')
    const key = c.req.valid('header')['idempotency-key']
    const fresh = { id: crypto.randomUUID(), issuedAt: Math.floor(wallNow() / 1000) }
    const { id, issuedAt } = key === undefined
      ? fresh
      : await database.call('record_portal_token', {
        p_org_id: orgId,
        p_key: key,
        p_token: { ...fresh, role, expiresInSeconds, subject },
      }, mark)
    const token = await signPortalToken(
      { orgId, role, subject, id, issuedAt, lifeSeconds: expiresInSeconds },
      secret,
    )
    const expiresAt = new Date((issuedAt + expiresInSeconds) * 1000).toISOString()
    c.header('cache-control', 'no-store')
    return c.json({ token, orgId, role, expiresAt }, 201)
  })
}
