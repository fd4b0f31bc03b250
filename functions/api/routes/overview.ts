import { createRoute, z } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { chargeCounted, chargeRows } from '../rows_read.ts'
import { overviewSchema } from '../schemas/overview.ts'
import { jsonResponse, needs, problems } from './route.ts'

const get = createRoute({
  method: 'get',
  path: '/overview',
  operationId: 'getOverview',
  summary: 'Get the state of all endpoints, and the attempts of the last minutes',
  description:
    'It reads at most 10,000 attempts and ends of deliveries (two of each endpoint, if there are more than 5,000), and counts at most 10,000 events. A portal token with limits cannot call it.',
  tags: ['Health'],
  ...needs('deliveries:read'),
  request: {
    query: z.strictObject({
      minutes: z.coerce.number().int().min(1).max(10_080).default(60).openapi({
        ...{ type: 'integer', minimum: 1, maximum: 10_080, default: 60 },
        param: { description: 'For how many minutes attempts are counted.' },
      }),
    }),
  },
  responses: { ...problems(), 200: jsonResponse(overviewSchema, 'The overview') },
})

/** The database has read so many, also if fewer are in the part of the span that is complete. */
const mostAttempts = 10_000

/** `/overview`: what a page shows first. */
export function addOverviewRoutes(app: ApiApp): void {
  app.openapi(get, async (c) => {
    const found = await c.get('database').call('get_org_overview', {
      p_org_id: c.get('principal').orgId,
      p_minutes: c.req.valid('query').minutes,
    }, overviewSchema)
    const { attempts, endpoints, deadLetters, events } = found
    chargeRows(c, (attempts.capped ? mostAttempts : attempts.total) + endpoints.total)
    chargeCounted(c, deadLetters + events.total)
    return c.json(found, 200)
  })
}
