import { createRoute, z } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { chargeFilter } from '../filter_charge.ts'
import { chargeRows, rowsRead, stepsOfRow } from '../rows_read.ts'
import { filterTrialSchema, newFilterTrialSchema } from '../schemas/filter_trials.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const create = createRoute({
  method: 'post',
  path: '/filter-trials',
  operationId: 'tryFilter',
  summary: 'Try a filter on the newest events',
  description:
    'It stores nothing. An endpoint that is addressed by an event gets it whatever its ' +
    'filter, so these events are left out.',
  tags: ['Endpoints'],
  ...needs('events:read'),
  request: { body: jsonBody(newFilterTrialSchema) },
  responses: {
    ...problems(),
    200: jsonResponse(filterTrialSchema, 'Which of the events would be sent'),
  },
})

/** `/filter-trials`. */
export function addFilterTrialRoutes(app: ApiApp): void {
  app.openapi(create, async (c) => {
    const { filter, eventTypes, limit } = c.req.valid('json')
    chargeFilter(c, filter)
    const { rows, work, ...trial } = await c.get('database').call('try_filter', {
      p_org_id: c.get('principal').orgId,
      p_filter: filter,
      p_event_types: eventTypes,
      p_limit: limit,
    }, filterTrialSchema.extend({ rows: rowsRead, work: z.int() }))
    chargeRows(c, rows + work / stepsOfRow)
    return c.json(trial, 200)
  })
}
