import { createRoute } from '../zod_openapi.ts'
import type { ApiApp, RouteDeps } from '../context.ts'
import { sessionSchema } from '../schemas/session.ts'
import { jsonResponse, needsAnyScope, problems } from './route.ts'

const get = createRoute({
  method: 'get',
  path: '/session',
  operationId: 'getSession',
  summary: 'Get what the credentials of this request allow',
  tags: ['Portal tokens'],
  ...needsAnyScope(),
  responses: { ...problems(), 200: jsonResponse(sessionSchema, 'The organisation and the scopes') },
})

/** `/session`: a page asks it what to show, so that it reads no token itself. */
export function addSessionRoutes(app: ApiApp, { wallNow }: RouteDeps): void {
  app.openapi(get, (c) => {
    const { orgId, kind, scopes, portal, expiresAt } = c.get('principal')
    const limits = portal?.limits ?? null
    return c.json({
      ...{ orgId, kind, scopes: [...scopes].sort() },
      endpointIds: limits?.endpointIds?.slice() ?? null,
      eventTypes: limits?.eventTypes?.slice() ?? null,
      expiresAt: expiresAt === undefined ? null : new Date(expiresAt * 1000).toISOString(),
      expiresInSeconds: expiresAt === undefined ? null : expiresAt - wallNow() / 1000,
    }, 200)
  })
}
