import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { consumersQuery, consumersSchema } from '../schemas/consumers.ts'
import { jsonResponse, needsKey, problems } from './route.ts'

const list = createRoute({
  method: 'get',
  path: '/consumers',
  operationId: 'listConsumers',
  summary: 'List the consumers that have processed events (needs a secret key)',
  tags: ['Consumers'],
  // A consumer belongs to the application and not to an organisation.
  ...needsKey(),
  request: { query: consumersQuery },
  responses: { ...problems(), 200: jsonResponse(consumersSchema, 'The consumers by name') },
})

/** `/consumers`. */
export function addConsumerRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { eventId } = c.req.valid('query')
    const args = eventId === undefined ? {} : { p_event_id: eventId }
    return c.json(await c.get('database').call('list_consumers', args, consumersSchema), 200)
  })
}
