import { createRoute } from '@hono/zod-openapi'
import type { ApiApp, ApiDeps } from '../context.ts'
import { healthSchema } from '../schemas/health.ts'
import { jsonResponse, needs, problems } from './route.ts'

const get = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  summary: 'Check whether the outbox works',
  description: '503 if the database cannot be reached.',
  tags: ['Health'],
  ...needs('viewer'),
  responses: { ...problems(), 200: jsonResponse(healthSchema, 'The health of the outbox') },
})

/** `/health`: cheap enough for a call every few seconds. */
export function addHealthRoutes(app: ApiApp, { database }: ApiDeps): void {
  app.openapi(get, async (c) => {
    c.header('cache-control', 'no-store')
    return c.json(await database.call('get_health', {}, healthSchema), 200)
  })
}
