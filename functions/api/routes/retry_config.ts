import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import { etagOf, ifMatchHeader, versionOf } from '../schemas/common.ts'
import { endpointParams } from '../schemas/endpoints.ts'
import {
  retryConfigSchema,
  retryPolicySchema,
  retryPreviewSchema,
} from '../schemas/retry_config.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Retry settings']
const path = '/endpoints/{endpointId}/retry-config'
const policyResponse = jsonResponse(retryConfigSchema, 'The current policy and its schedule')

const get = createRoute({
  method: 'get',
  path,
  operationId: 'getRetryConfig',
  summary: 'Get the retry policy of an endpoint',
  tags,
  ...needs('endpoints:read'),
  request: { params: endpointParams },
  responses: { ...problems('not_found'), 200: policyResponse },
})

const put = createRoute({
  method: 'put',
  path,
  operationId: 'setRetryConfig',
  summary: 'Set the retry policy of an endpoint',
  tags,
  ...needs('endpoints:write'),
  request: { params: endpointParams, headers: ifMatchHeader, body: jsonBody(retryPolicySchema) },
  responses: {
    ...problems('not_found', 'version_mismatch', 'organisation_moved'),
    200: policyResponse,
  },
})

const reset = createRoute({
  method: 'delete',
  path,
  operationId: 'resetRetryConfig',
  summary: "Return to the preset of the endpoint's kind",
  tags,
  ...needs('endpoints:write'),
  request: { params: endpointParams, headers: ifMatchHeader },
  responses: {
    ...problems('not_found', 'version_mismatch', 'organisation_moved'),
    200: policyResponse,
  },
})

const preview = createRoute({
  method: 'post',
  path: '/retry-config/preview',
  operationId: 'previewRetryConfig',
  summary: 'Get the schedule of a retry policy without saving it',
  tags,
  ...needs('endpoints:read'),
  request: { body: jsonBody(retryPolicySchema) },
  responses: { ...problems(), 200: jsonResponse(retryPreviewSchema, 'The schedule') },
})

/** `/endpoints/{endpointId}/retry-config`, and the preview of a policy that is not saved. */
export function addRetryConfigRoutes(app: ApiApp): void {
  app.openapi(get, async (c) => {
    const config = await c.get('database').call('get_retry_config', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
    }, retryConfigSchema)
    c.header('etag', etagOf(config.version))
    return c.json(config, 200)
  })

  app.openapi(put, async (c) => {
    const version = versionOf(c.req.valid('header')['if-match'])
    const config = await c.get('database').call('set_retry_config', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      p_policy: c.req.valid('json'),
      ...version === null ? {} : { p_version: version },
    }, retryConfigSchema)
    c.header('etag', etagOf(config.version))
    return c.json(config, 200)
  })

  app.openapi(reset, async (c) => {
    const version = versionOf(c.req.valid('header')['if-match'])
    const config = await c.get('database').call('set_retry_config', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      ...version === null ? {} : { p_version: version },
    }, retryConfigSchema)
    c.header('etag', etagOf(config.version))
    return c.json(config, 200)
  })

  app.openapi(preview, async (c) => {
    const schedule = await c.get('database').call('preview_retry_config', {
      p_policy: c.req.valid('json'),
    }, retryPreviewSchema)
    return c.json(schedule, 200)
  })
}
