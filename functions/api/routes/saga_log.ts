import { createRoute } from '../zod_openapi.ts'
import type { z } from 'zod'
import type { ApiApp } from '../context.ts'
import { executionParams, executionSchema, sagaSchema, sagasSchema } from '../schemas/saga_log.ts'
import { sagaParams } from '../schemas/sagas.ts'
import { jsonResponse, needs, problems } from './route.ts'

const tags = ['Sagas']

const list = createRoute({
  method: 'get',
  path: '/sagas',
  operationId: 'listSagas',
  summary: 'List sagas by name; a token sees those that tokens may execute',
  tags,
  ...needs('sagas:read'),
  responses: { ...problems(), 200: jsonResponse(sagasSchema, 'The sagas') },
})

const get = createRoute({
  method: 'get',
  path: '/sagas/{name}',
  operationId: 'getSaga',
  summary: 'Get a saga with its steps',
  tags,
  ...needs('sagas:read'),
  request: { params: sagaParams },
  responses: { ...problems('not_found'), 200: jsonResponse(sagaSchema, 'The saga') },
})

const execution = createRoute({
  method: 'get',
  path: '/saga-executions/{executionId}',
  operationId: 'getSagaExecution',
  summary: 'Get the log of an execution: its steps with their events and deliveries',
  description:
    'Found by its id, also an execution of a saga that tokens may not execute. Without the scope ' +
    '`deliveries:read`, the lists of deliveries are empty.',
  tags,
  ...needs('sagas:read'),
  request: { params: executionParams },
  responses: { ...problems('not_found'), 200: jsonResponse(executionSchema, 'The log') },
})

/** `/sagas` and `/saga-executions`: what is read of sagas. */
export function addSagaLogRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const args = { p_by_token: c.get('principal').kind !== 'key' }
    return c.json(await c.get('database').call('list_sagas', args, sagasSchema), 200)
  })

  app.openapi(get, async (c) => {
    const saga = await c.get('database').call('get_saga', {
      p_name: c.req.valid('param').name,
      p_by_token: c.get('principal').kind !== 'key',
    }, sagaSchema)
    return c.json(saga, 200)
  })

  app.openapi(execution, async (c) => {
    const { orgId, scopes } = c.get('principal')
    const log = await c.get('database').call('get_saga_execution', {
      p_org_id: orgId,
      p_id: c.req.valid('param').executionId,
    }, executionSchema)
    return c.json(scopes.has('deliveries:read') ? log : withoutDeliveries(log), 200)
  })
}

type Execution = z.infer<typeof executionSchema>

function withoutDeliveries(log: Execution): Execution {
  return { ...log, steps: log.steps.map((step) => ({ ...step, deliveries: [] })) }
}
