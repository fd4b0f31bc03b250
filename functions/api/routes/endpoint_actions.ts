import { createRoute, z } from '../zod_openapi.ts'
import type { ApiApp, RouteDeps } from '../context.ts'
import { chargeRows } from '../rows_read.ts'
import { etagOf } from '../schemas/common.ts'
import {
  endpointStatsSchema,
  pauseSchema,
  testResultSchema,
  testStartedSchema,
} from '../schemas/endpoint_stats.ts'
import { endpointParams, endpointSchema } from '../schemas/endpoints.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Endpoints']

const pause = createRoute({
  method: 'post',
  path: '/endpoints/{endpointId}/pause',
  operationId: 'pauseEndpoint',
  summary: 'Pause an endpoint; its deliveries are held',
  tags,
  ...needs('endpoints:write'),
  request: { params: endpointParams, body: jsonBody(pauseSchema) },
  responses: {
    ...problems('not_found', 'organisation_moved'),
    200: jsonResponse(endpointSchema, 'The endpoint, paused'),
  },
})

const resume = createRoute({
  method: 'post',
  path: '/endpoints/{endpointId}/resume',
  operationId: 'resumeEndpoint',
  summary: 'Resume a paused or disabled endpoint',
  tags,
  ...needs('endpoints:write'),
  request: { params: endpointParams },
  responses: {
    ...problems('not_found', 'organisation_moved'),
    200: jsonResponse(endpointSchema, 'The endpoint, enabled'),
  },
})

const test = createRoute({
  method: 'post',
  path: '/endpoints/{endpointId}/test',
  operationId: 'testEndpoint',
  summary: 'Send a test event and wait for the outcome',
  tags,
  ...needs('endpoints:write'),
  request: {
    params: endpointParams,
    query: z.strictObject({
      waitSeconds: z.coerce.number().int().min(0).max(20).default(10).openapi({
        // Written out: null would be coerced to 0, so it would be described as allowed.
        ...{ type: 'integer', minimum: 0, maximum: 20, default: 10 },
        param: { description: 'After this time, the outcome is `pending`.' },
      }),
    }),
  },
  responses: {
    ...problems('not_found', 'wrong_state', 'breaker_open'),
    200: jsonResponse(testResultSchema, 'The outcome of the first attempt'),
  },
})

const stats = createRoute({
  method: 'get',
  path: '/endpoints/{endpointId}/stats',
  operationId: 'getEndpointStats',
  summary: 'Get the statistics of an endpoint',
  tags,
  ...needs('endpoints:read'),
  request: {
    params: endpointParams,
    query: z.strictObject({
      hours: z.coerce.number().int().min(1).max(168).default(24).openapi({
        param: { description: 'For how many hours attempts are counted.' },
      }),
    }),
  },
  responses: { ...problems('not_found'), 200: jsonResponse(endpointStatsSchema, 'The statistics') },
})

/** The interval of checks for the outcome of a test event: a delivery takes tens of ms, a kick up to 1 s. */
const lookEveryMs = 100

/** Pause, resume and test an endpoint, and get its statistics. */
export function addEndpointActionRoutes(app: ApiApp, deps: RouteDeps): void {
  const { now, sleep } = deps

  app.openapi(pause, async (c) => {
    const { reason } = c.req.valid('json')
    const endpoint = await c.get('database').call('pause_org_endpoint', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      ...reason === undefined ? {} : { p_reason: reason },
    }, endpointSchema)
    c.header('etag', etagOf(endpoint.version))
    return c.json(endpoint, 200)
  })

  app.openapi(resume, async (c) => {
    const endpoint = await c.get('database').call('resume_org_endpoint', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
    }, endpointSchema)
    c.header('etag', etagOf(endpoint.version))
    return c.json(endpoint, 200)
  })

  app.openapi(test, async (c) => {
    const endpoint = {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
    }
    const until = now() + c.req.valid('query').waitSeconds * 1000
    const { eventId } = await c.get('database').call(
      'test_org_endpoint',
      endpoint,
      testStartedSchema,
    )
    const look = { ...endpoint, p_event_id: eventId }
    let result = await c.get('database').call('get_org_test', look, testResultSchema)
    while (result.outcome === 'pending' && now() < until) {
      await sleep(lookEveryMs)
      // Each check is a call to the database.
      c.get('charge')?.(1)
      result = await c.get('database').call('get_org_test', look, testResultSchema)
    }
    return c.json(result, 200)
  })

  app.openapi(stats, async (c) => {
    const result = await c.get('database').call('get_org_stats', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      p_hours: c.req.valid('query').hours,
    }, endpointStatsSchema)
    chargeRows(c, result.attempts.total + result.deadLetters)
    return c.json(result, 200)
  })
}
