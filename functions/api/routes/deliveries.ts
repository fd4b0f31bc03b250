import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { chargeRows, rowsRead } from '../rows_read.ts'
import {
  attemptPageSchema,
  attemptsQuery,
  deliveriesQuery,
  deliveryKey,
  deliveryPageSchema,
  deliveryParams,
  deliverySchema,
} from '../schemas/deliveries.ts'
import { jsonResponse, needs, problems } from './route.ts'

const tags = ['Deliveries']

const list = createRoute({
  method: 'get',
  path: '/deliveries',
  operationId: 'listDeliveries',
  summary:
    'List deliveries, newest event first. A page may be short; the list ends with a null cursor',
  tags,
  ...needs('deliveries:read'),
  request: { query: deliveriesQuery },
  responses: { ...problems(), 200: jsonResponse(deliveryPageSchema, 'A page of deliveries') },
})

const get = createRoute({
  method: 'get',
  path: '/deliveries/{deliveryId}',
  operationId: 'getDelivery',
  summary: 'Get a delivery',
  tags,
  ...needs('deliveries:read'),
  request: { params: deliveryParams },
  responses: { ...problems('not_found'), 200: jsonResponse(deliverySchema, 'The delivery') },
})

const attempts = createRoute({
  method: 'get',
  path: '/deliveries/{deliveryId}/attempts',
  operationId: 'listAttempts',
  summary: 'List the attempts of a delivery, oldest first',
  tags,
  ...needs('deliveries:read'),
  request: { params: deliveryParams, query: attemptsQuery },
  responses: {
    ...problems('not_found'),
    200: jsonResponse(attemptPageSchema, 'A page of attempts'),
  },
})

const acted = {
  ...problems('not_found', 'wrong_state', 'organisation_moved'),
  200: jsonResponse(deliverySchema, 'The delivery as it is now'),
}

const retry = createRoute({
  method: 'post',
  path: '/deliveries/{deliveryId}/retry',
  operationId: 'retryDelivery',
  summary: 'Attempt an open delivery now',
  tags,
  ...needs('deliveries:replay'),
  request: { params: deliveryParams },
  responses: acted,
})

const replay = createRoute({
  method: 'post',
  path: '/deliveries/{deliveryId}/replay',
  operationId: 'replayDelivery',
  summary: 'Send a finished delivery again, or an open one with all its retries',
  tags,
  ...needs('deliveries:replay'),
  request: { params: deliveryParams },
  responses: acted,
})

const cancel = createRoute({
  method: 'post',
  path: '/deliveries/{deliveryId}/cancel',
  operationId: 'cancelDelivery',
  summary: 'Cancel an open delivery',
  tags,
  ...needs('deliveries:cancel'),
  request: { params: deliveryParams },
  responses: acted,
})

/** `/deliveries`: list, get, attempts, retry now, replay, cancel. */
export function addDeliveryRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { cursor, limit, status, endpointId, eventType, from, to, dueFrom, dueTo } = c.req.valid(
      'query',
    )
    const { rows, ...page } = await c.get('database').call('list_deliveries', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...status === undefined ? {} : { p_status: status },
      ...endpointId === undefined ? {} : { p_endpoint_id: endpointId },
      ...eventType === undefined ? {} : { p_event_type: eventType },
      ...from === undefined ? {} : { p_from: from },
      ...to === undefined ? {} : { p_to: to },
      ...dueFrom === undefined ? {} : { p_due_from: dueFrom },
      ...dueTo === undefined ? {} : { p_due_to: dueTo },
    }, deliveryPageSchema.extend({ rows: rowsRead }))
    chargeRows(c, rows)
    return c.json(page, 200)
  })

  app.openapi(get, async (c) => {
    const delivery = await c.get('database').call('get_delivery', {
      p_org_id: c.get('principal').orgId,
      ...deliveryKey(c.req.valid('param').deliveryId),
    }, deliverySchema)
    return c.json(delivery, 200)
  })

  app.openapi(attempts, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const page = await c.get('database').call('list_attempts', {
      p_org_id: c.get('principal').orgId,
      ...deliveryKey(c.req.valid('param').deliveryId),
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
    }, attemptPageSchema)
    return c.json(page, 200)
  })

  for (
    const [route, action] of [[retry, 'retry'], [replay, 'replay'], [cancel, 'cancel']] as const
  ) {
    app.openapi(route, async (c) => {
      const { orgId, actor } = c.get('principal')
      const delivery = await c.get('database').call('act_on_delivery', {
        p_org_id: orgId,
        ...deliveryKey(c.req.valid('param').deliveryId),
        p_action: action,
        p_reason: `by ${actor}`,
      }, deliverySchema)
      return c.json(delivery, 200)
    })
  }
}
