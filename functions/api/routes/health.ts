import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { healthSchema } from '../schemas/health.ts'
import { jsonResponse, needs, problems } from './route.ts'

const get = createRoute({
  method: 'get',
  path: '/health',
  operationId: 'getHealth',
  summary: 'Get the health of the outbox',
  description: 'If the database cannot be reached, the response is 503.',
  tags: ['Health'],
  ...needs('health:read'),
  responses: { ...problems(), 200: jsonResponse(healthSchema, 'The health') },
})

/** `/health`: cheap enough to be called every few seconds. */
export function addHealthRoutes(app: ApiApp): void {
  app.openapi(get, async (c) => {
    return c.json(await c.get('database').call('get_health', {}, healthSchema), 200)
  })
}
