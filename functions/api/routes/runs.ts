import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { runsSchema } from '../schemas/runs.ts'
import { jsonResponse, needsKey, problems } from './route.ts'

const list = createRoute({
  method: 'get',
  path: '/runs',
  operationId: 'listRuns',
  summary: 'List the live edge runs and the workers (needs a secret key)',
  tags: ['Health'],
  // They belong to the project and not to an organisation.
  ...needsKey(),
  responses: { ...problems(), 200: jsonResponse(runsSchema, 'The edge runs and workers') },
})

/** `/runs`: the edge runs and workers. */
export function addRunRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    return c.json(await c.get('database').call('list_runs', {}, runsSchema), 200)
  })
}
