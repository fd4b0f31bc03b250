import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { chargeFilter } from '../filter_charge.ts'
import { chargeRows, stepsOfRow } from '../rows_read.ts'
import { idempotencyKeyHeader } from '../schemas/common.ts'
import { endpointParams } from '../schemas/endpoints.ts'
import {
  backfillPreviewQuerySchema,
  backfillPreviewRows,
  backfillPreviewSchema,
  backfillSchema,
  newBackfillSchema,
} from '../schemas/replay_jobs.ts'
import { tags } from './replay_jobs.ts'
import { createdResponse, jsonBody, jsonResponse, needs, problems, setLocation } from './route.ts'

const create = createRoute({
  method: 'post',
  path: '/endpoints/{endpointId}/backfills',
  operationId: 'createBackfill',
  summary: 'Create a job that sends kept events to an endpoint that lacks them or has lost them',
  tags,
  ...needs('deliveries:replay'),
  request: {
    params: endpointParams,
    headers: idempotencyKeyHeader,
    body: jsonBody(newBackfillSchema),
  },
  responses: {
    ...problems('not_found', 'idempotency_conflict', 'limit_reached', 'organisation_moved'),
    201: createdResponse(backfillSchema, 'The job, which has started'),
  },
})

const preview = createRoute({
  method: 'post',
  path: '/endpoints/{endpointId}/backfills/preview',
  operationId: 'previewBackfill',
  summary: 'Count the kept events that a backfill would send',
  description: 'It changes nothing. Whoever may start the backfill may see how many it would send.',
  tags,
  ...needs('deliveries:replay'),
  request: { params: endpointParams, body: jsonBody(backfillPreviewQuerySchema) },
  responses: {
    ...problems('not_found'),
    200: jsonResponse(backfillPreviewSchema, 'What the backfill would send'),
  },
})

/** The backfills of an endpoint, which are replay jobs once they have started: create, preview. */
export function addBackfillRoutes(app: ApiApp): void {
  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key']
    chargeFilter(c, c.req.valid('json').filter)
    const job = await c.get('database').call('create_backfill', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      p_job: c.req.valid('json'),
      ...key === undefined ? {} : { p_key: key },
    }, backfillSchema)
    setLocation(c, job.id, '../../replay-jobs')
    return c.json(job, 201)
  })

  app.openapi(preview, async (c) => {
    const body = c.req.valid('json')
    chargeFilter(c, body.filter)
    const { work, ...found } = await c.get('database').call('preview_backfill', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      p_job: body,
    }, backfillPreviewRows)
    chargeRows(c, found.read + work / stepsOfRow)
    return c.json(found, 200)
  })
}
