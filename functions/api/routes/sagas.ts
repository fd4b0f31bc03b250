import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { idempotencyKeyHeader } from '../schemas/common.ts'
import { traceparentForm } from '../schemas/events.ts'
import {
  sagaContextSchema,
  sagaParams,
  sagaResultSchema,
  storedSagaResultSchema,
} from '../schemas/sagas.ts'
import { jsonBody, jsonResponse, needs, problems, rawJson } from './route.ts'

const execute = createRoute({
  method: 'post',
  path: '/sagas/{name}',
  operationId: 'executeSaga',
  summary: 'Execute a saga: all its steps with their events, or none',
  tags: ['Sagas'],
  ...needs('sagas:execute'),
  request: {
    params: sagaParams,
    headers: idempotencyKeyHeader,
    body: jsonBody(sagaContextSchema),
  },
  responses: {
    ...problems('not_found', 'idempotency_conflict', 'saga_failed'),
    200: jsonResponse(sagaResultSchema, 'All steps were executed and their events stored'),
  },
})

/** `/sagas/{name}`: execute. */
export function addSagaRoutes(app: ApiApp): void {
  app.openapi(execute, async (c) => {
    const key = c.req.valid('header')['idempotency-key']
    const traceparent = c.get('traceparent') ?? ''
    const { context, ...result } = await c.get('database').call('execute_org_saga', {
      p_org_id: c.get('principal').orgId,
      p_name: c.req.valid('param').name,
      p_context: await c.req.text(),
      p_by_token: c.get('principal').kind !== 'key',
      ...key === undefined ? {} : { p_key: key },
      // An invalid traceparent is ignored, not refused (W3C Trace Context).
      ...traceparentForm.test(traceparent) ? { p_traceparent: traceparent } : {},
    }, storedSagaResultSchema)
    return rawJson(c, `${JSON.stringify(result).slice(0, -1)},"context":${context}}`)
  })
}
