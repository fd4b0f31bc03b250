import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { chargeRows, rowsRead } from '../rows_read.ts'
import {
  deadLetterGroupsQuery,
  deadLetterGroupsSchema,
  deadLetterPageSchema,
  deadLetterParams,
  deadLetterQuery,
  deadLetterSchema,
  discardSchema,
  wholeDeadLetterSchema,
} from '../schemas/dead_letters.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Dead letters']

const list = createRoute({
  method: 'get',
  path: '/dead-letters',
  operationId: 'listDeadLetters',
  summary: 'List dead letters, newest first',
  tags,
  ...needs('deliveries:read'),
  request: { query: deadLetterQuery },
  responses: { ...problems(), 200: jsonResponse(deadLetterPageSchema, 'A page; it may be short') },
})

const group = createRoute({
  method: 'get',
  path: '/dead-letter-groups',
  operationId: 'groupDeadLetters',
  summary: 'Count the open dead letters by endpoint and error, the largest group first',
  description: 'A portal token with limits cannot call it.',
  tags,
  ...needs('deliveries:read'),
  request: { query: deadLetterGroupsQuery },
  responses: { ...problems(), 200: jsonResponse(deadLetterGroupsSchema, 'The groups') },
})

const get = createRoute({
  method: 'get',
  path: '/dead-letters/{deadLetterId}',
  operationId: 'getDeadLetter',
  summary: 'Get a dead letter with its body',
  tags,
  ...needs('deliveries:read'),
  request: { params: deadLetterParams },
  responses: {
    ...problems('not_found'),
    200: jsonResponse(wholeDeadLetterSchema, 'The dead letter'),
  },
})

const replay = createRoute({
  method: 'post',
  path: '/dead-letters/{deadLetterId}/replay',
  operationId: 'replayDeadLetter',
  summary: 'Send a dead letter again, with all its retries',
  tags,
  ...needs('deliveries:replay'),
  request: { params: deadLetterParams },
  responses: {
    ...problems('not_found', 'wrong_state', 'organisation_moved'),
    200: jsonResponse(deadLetterSchema, 'The dead letter, replayed'),
  },
})

const discard = createRoute({
  method: 'post',
  path: '/dead-letters/{deadLetterId}/discard',
  operationId: 'discardDeadLetter',
  summary: 'Discard a dead letter',
  tags,
  ...needs('deliveries:cancel'),
  request: { params: deadLetterParams, body: jsonBody(discardSchema) },
  responses: {
    ...problems('not_found', 'organisation_moved'),
    200: jsonResponse(deadLetterSchema, 'The dead letter, discarded'),
  },
})

/** `/dead-letters`: list, group, get, replay, discard. */
export function addDeadLetterRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { cursor, limit, endpointId, eventType, status, error, from, to } = c.req.valid('query')
    const { rows, ...page } = await c.get('database').call('list_dead_letters', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...endpointId === undefined ? {} : { p_endpoint_id: endpointId },
      ...eventType === undefined ? {} : { p_event_type: eventType },
      ...status === undefined ? {} : { p_status: status },
      ...error === undefined ? {} : { p_error: error },
      ...from === undefined ? {} : { p_from: from },
      ...to === undefined ? {} : { p_to: to },
    }, deadLetterPageSchema.extend({ rows: rowsRead }))
    chargeRows(c, rows)
    return c.json(page, 200)
  })

  app.openapi(group, async (c) => {
    const { endpointId, from } = c.req.valid('query')
    const { rows, ...groups } = await c.get('database').call('group_dead_letters', {
      p_org_id: c.get('principal').orgId,
      ...endpointId === undefined ? {} : { p_endpoint_id: endpointId },
      ...from === undefined ? {} : { p_from: from },
    }, deadLetterGroupsSchema.extend({ rows: rowsRead }))
    chargeRows(c, rows)
    return c.json(groups, 200)
  })

  app.openapi(get, async (c) => {
    const letter = await c.get('database').call('get_dead_letter', {
      p_org_id: c.get('principal').orgId,
      p_id: c.req.valid('param').deadLetterId,
    }, wholeDeadLetterSchema)
    return c.json(letter, 200)
  })

  app.openapi(replay, async (c) => {
    const letter = await c.get('database').call('replay_dead_letter', {
      p_org_id: c.get('principal').orgId,
      p_id: c.req.valid('param').deadLetterId,
    }, deadLetterSchema)
    return c.json(letter, 200)
  })

  app.openapi(discard, async (c) => {
    const letter = await c.get('database').call('discard_org_dead_letter', {
      p_org_id: c.get('principal').orgId,
      p_id: c.req.valid('param').deadLetterId,
      p_reason: c.req.valid('json').reason,
    }, deadLetterSchema)
    return c.json(letter, 200)
  })
}
