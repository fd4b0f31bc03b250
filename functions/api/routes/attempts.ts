import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { chargeRows, rowsRead } from '../rows_read.ts'
import { orgAttemptPageSchema, orgAttemptsQuery } from '../schemas/org_attempts.ts'
import { jsonResponse, needs, problems } from './route.ts'

const list = createRoute({
  method: 'get',
  path: '/attempts',
  operationId: 'listAllAttempts',
  summary:
    'List the attempts at all endpoints, newest first. A page may be short; the list ends with a null cursor',
  description:
    'It reads about 10,000 attempts and ends, and up to 5,000 more for each endpoint with ends of the same time. A portal token with limits cannot call it.',
  tags: ['Deliveries'],
  ...needs('deliveries:read'),
  request: { query: orgAttemptsQuery },
  responses: { ...problems(), 200: jsonResponse(orgAttemptPageSchema, 'A page of attempts') },
})

/** `/attempts`: what the overview counts. */
export function addAttemptRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { cursor, limit, outcome, endpointId, from, to } = c.req.valid('query')
    const { rows, ...page } = await c.get('database').call('list_org_attempts', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...outcome === undefined ? {} : { p_outcome: outcome },
      ...endpointId === undefined ? {} : { p_endpoint_id: endpointId },
      ...from === undefined ? {} : { p_from: from },
      ...to === undefined ? {} : { p_to: to },
    }, orgAttemptPageSchema.extend({ rows: rowsRead }))
    chargeRows(c, rows)
    return c.json(page, 200)
  })
}
