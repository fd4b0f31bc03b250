import { createRoute } from '@hono/zod-openapi'
import { mintPortalToken } from '../auth/portal.ts'
import type { ApiApp, ApiDeps } from '../context.ts'
import { ApiError } from '../errors.ts'
import { newPortalTokenSchema, portalTokenSchema } from '../schemas/portal_tokens.ts'
import { jsonAnswer, jsonBody, needs, problems } from './route.ts'

const mint = createRoute({
  method: 'post',
  path: '/portal-tokens',
  operationId: 'createPortalToken',
  summary: "Mint a short-lived token for a customer's browser",
  tags: ['Portal tokens'],
  ...needs('admin'),
  request: { body: jsonBody(newPortalTokenSchema) },
  responses: {
    ...problems('not_configured'),
    201: jsonAnswer(portalTokenSchema, 'A token of one organisation'),
  },
})

/** `/portal-tokens`. */
export function addPortalTokenRoutes(app: ApiApp, { portalSecrets, wallNow }: ApiDeps): void {
  app.openapi(mint, async (c) => {
    const [secret] = portalSecrets
    if (secret === undefined) {
      throw new ApiError('not_configured', 'OUTHOOK_PORTAL_SECRET is not set', {
        remedy: 'Set it to 32 random bytes: openssl rand -hex 32',
      })
    }
    const { role, expiresInSeconds, subject } = c.req.valid('json')
    const { orgId } = c.get('principal')
    const now = wallNow()
    const token = await mintPortalToken(
      { orgId, role, subject, now, lifeSeconds: expiresInSeconds },
      secret,
    )
    const expiresAt = new Date((Math.floor(now / 1000) + expiresInSeconds) * 1000).toISOString()
    c.header('cache-control', 'no-store')
    return c.json({ token, orgId, role, expiresAt }, 201)
  })
}
