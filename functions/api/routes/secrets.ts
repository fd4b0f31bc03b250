import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { idempotencyKeyHeader, uuidSchema } from '../schemas/common.ts'
import { endpointParams } from '../schemas/endpoints.ts'
import { endpointSecretSchema, rotationSchema } from '../schemas/secrets.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Secrets']
const secretResponse = jsonResponse(endpointSecretSchema, 'The secrets that sign now')

const get = createRoute({
  method: 'get',
  path: '/endpoints/{endpointId}/secret',
  operationId: 'getEndpointSecret',
  summary: 'Get the secrets of an endpoint',
  tags,
  ...needs('secrets:read'),
  request: { params: endpointParams },
  responses: { ...problems('not_found', 'wrong_state'), 200: secretResponse },
})

const rotate = createRoute({
  method: 'post',
  path: '/endpoints/{endpointId}/secret/rotate',
  operationId: 'rotateEndpointSecret',
  summary: 'Replace the secret; the old one also signs for a while',
  tags,
  ...needs('secrets:write'),
  request: {
    params: endpointParams,
    headers: idempotencyKeyHeader,
    body: jsonBody(rotationSchema),
  },
  responses: {
    ...problems('not_found', 'wrong_state', 'idempotency_conflict', 'organisation_moved'),
    200: secretResponse,
  },
})

const expire = createRoute({
  method: 'delete',
  path: '/endpoints/{endpointId}/secrets/{secretId}',
  operationId: 'expireEndpointSecret',
  summary: 'Make a replaced secret expire immediately',
  tags,
  ...needs('secrets:write'),
  request: {
    params: endpointParams.extend({
      secretId: uuidSchema.openapi({ param: { name: 'secretId', in: 'path' } }),
    }),
  },
  responses: { ...problems('not_found', 'wrong_state', 'organisation_moved'), 200: secretResponse },
})

/** The signing secrets of an endpoint. */
export function addSecretRoutes(app: ApiApp): void {
  app.openapi(get, async (c) => {
    const secret = await c.get('database').call('get_org_secret', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
    }, endpointSecretSchema)
    return c.json(secret, 200)
  })

  app.openapi(rotate, async (c) => {
    const { secret, overlapSeconds } = c.req.valid('json')
    const key = c.req.valid('header')['idempotency-key']
    const rotated = await c.get('database').call('rotate_org_secret', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      p_overlap_seconds: overlapSeconds,
      ...secret === undefined ? {} : { p_secret: secret },
      ...key === undefined ? {} : { p_key: key },
    }, endpointSecretSchema)
    return c.json(rotated, 200)
  })

  app.openapi(expire, async (c) => {
    const { endpointId, secretId } = c.req.valid('param')
    const left = await c.get('database').call('expire_org_secret', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: endpointId,
      p_secret_id: secretId,
    }, endpointSecretSchema)
    return c.json(left, 200)
  })
}
