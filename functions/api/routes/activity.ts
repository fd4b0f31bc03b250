import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { activityPageSchema, activityQuery } from '../schemas/dossiers.ts'
import { jsonResponse, needs, problems } from './route.ts'

const list = createRoute({
  method: 'get',
  path: '/activity',
  operationId: 'listAllActivity',
  summary: 'List the activity of all dossiers, newest first',
  tags: ['Dossiers'],
  ...needs('messages:read'),
  request: { query: activityQuery },
  responses: { ...problems(), 200: jsonResponse(activityPageSchema, 'A page of activities') },
})

/** `/activity`: the timelines of all dossiers in one list. */
export function addActivityRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { limit, cursor, type } = c.req.valid('query')
    const activities = await c.get('database').call('list_activity', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...type === undefined ? {} : { p_activity_type: type },
    }, activityPageSchema)
    return c.json(activities, 200)
  })
}
