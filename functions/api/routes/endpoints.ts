import { createRoute, z } from '../zod_openapi.ts'
import { kindNotInstalled } from '../../_shared/database/modules.ts'
import type { Principal } from '../auth/principal.ts'
import type { ApiApp } from '../context.ts'
import { ApiError } from '../errors.ts'
import {
  etagOf,
  idempotencyKeyHeader,
  ifMatchHeader,
  pageQuery,
  versionOf,
} from '../schemas/common.ts'
import {
  createdEndpointSchema,
  endpointChangeSchema,
  endpointDeletedSchema,
  endpointPageSchema,
  endpointParams,
  endpointSchema,
  endpointStatus,
  newEndpointSchema,
} from '../schemas/endpoints.ts'
import { chargeFilter } from '../filter_charge.ts'
import { chargeRows, rowsRead } from '../rows_read.ts'
import { moduleMissing } from '../sql_error.ts'
import { keyRequired } from '../middleware/access.ts'
import { openKinds } from '../middleware/token_rules.ts'
import { createdResponse, jsonBody, jsonResponse, needs, problems, setLocation } from './route.ts'

const tags = ['Endpoints']

const list = createRoute({
  method: 'get',
  path: '/endpoints',
  operationId: 'listEndpoints',
  summary: 'List endpoints, newest first',
  tags,
  ...needs('endpoints:read'),
  request: {
    query: z.strictObject({
      ...pageQuery,
      status: endpointStatus.optional(),
      health: z.enum(['failing', 'breaker_open', 'held']).optional().openapi({
        description: 'failing: the last attempt failed; breaker_open: the breaker is open or ' +
          'half-open; held: paused or disabled.',
      }),
      search: z.string().min(1).max(200).optional().openapi({
        description: 'A part of the URL or the description, in small letters or capitals.',
        example: 'shop',
      }),
    }),
  },
  responses: { ...problems(), 200: jsonResponse(endpointPageSchema, 'A page of endpoints') },
})

const create = createRoute({
  method: 'post',
  path: '/endpoints',
  operationId: 'createEndpoint',
  summary: 'Create an endpoint',
  tags,
  ...needs('endpoints:write'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(newEndpointSchema) },
  responses: {
    ...problems('idempotency_conflict', 'limit_reached', 'organisation_moved'),
    201: createdResponse(createdEndpointSchema, 'The endpoint with its secret'),
  },
})

const get = createRoute({
  method: 'get',
  path: '/endpoints/{endpointId}',
  operationId: 'getEndpoint',
  summary: 'Get an endpoint',
  tags,
  ...needs('endpoints:read'),
  request: { params: endpointParams },
  responses: { ...problems('not_found'), 200: jsonResponse(endpointSchema, 'The endpoint') },
})

const update = createRoute({
  method: 'patch',
  path: '/endpoints/{endpointId}',
  operationId: 'updateEndpoint',
  summary: 'Change an endpoint',
  tags,
  ...needs('endpoints:write'),
  request: {
    params: endpointParams,
    headers: ifMatchHeader,
    body: jsonBody(endpointChangeSchema),
  },
  responses: {
    ...problems('not_found', 'limit_reached', 'version_mismatch', 'organisation_moved'),
    200: jsonResponse(endpointSchema, 'The endpoint as it is now'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/endpoints/{endpointId}',
  operationId: 'deleteEndpoint',
  summary: 'Delete an endpoint and cancel its open deliveries',
  tags,
  ...needs('endpoints:write'),
  request: { params: endpointParams, headers: ifMatchHeader },
  responses: {
    ...problems('not_found', 'version_mismatch', 'organisation_moved'),
    200: jsonResponse(endpointDeletedSchema, 'It is deleted'),
  },
})

/** `/endpoints`: list, create, get, change, delete. */
export function addEndpointRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { cursor, limit, status, search, health } = c.req.valid('query')
    const { rows, ...page } = await c.get('database').call('list_org_endpoints', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...status === undefined ? {} : { p_status: status },
      ...search === undefined ? {} : { p_search: search },
      ...health === undefined ? {} : { p_health: health },
    }, endpointPageSchema.extend({ rows: rowsRead }))
    chargeRows(c, rows)
    return c.json(page, 200)
  })

  app.openapi(create, async (c) => {
    const key = c.req.valid('header')['idempotency-key']
    checkMayName(c.get('principal'), c.req.valid('json'))
    chargeFilter(c, c.req.valid('json').filter)
    const endpoint = await c.get('database').call('create_org_endpoint', {
      p_org_id: c.get('principal').orgId,
      p_endpoint: c.req.valid('json'),
      p_by_token: c.get('principal').kind !== 'key',
      ...c.get('principal').scopes.has('secrets:read')
        ? {}
        : { p_caller: c.get('principal').actor },
      ...key === undefined ? {} : { p_key: key },
    }, createdEndpointSchema).catch((error) => {
      throw missingKind(error, c.req.valid('json').kind) ?? error
    })
    c.header('etag', etagOf(endpoint.version))
    setLocation(c, endpoint.id)
    return c.json(endpoint, 201)
  })

  app.openapi(get, async (c) => {
    const endpoint = await c.get('database').call('get_org_endpoint', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
    }, endpointSchema)
    c.header('etag', etagOf(endpoint.version))
    return c.json(endpoint, 200)
  })

  app.openapi(update, async (c) => {
    const version = versionOf(c.req.valid('header')['if-match'])
    checkMayName(c.get('principal'), c.req.valid('json'))
    chargeFilter(c, c.req.valid('json').filter)
    const endpoint = await c.get('database').call('update_org_endpoint', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      p_change: c.req.valid('json'),
      p_by_token: c.get('principal').kind !== 'key',
      ...version === null ? {} : { p_version: version },
    }, endpointSchema)
    c.header('etag', etagOf(endpoint.version))
    return c.json(endpoint, 200)
  })

  app.openapi(remove, async (c) => {
    const version = versionOf(c.req.valid('header')['if-match'])
    const deleted = await c.get('database').call('delete_org_endpoint', {
      p_org_id: c.get('principal').orgId,
      p_endpoint_id: c.req.valid('param').endpointId,
      ...version === null ? {} : { p_version: version },
    }, endpointDeletedSchema)
    return c.json(deleted, 200)
  })
}

type Naming = {
  kind?: string | undefined
  broker?: unknown
  config?: unknown
  credentials?: unknown
}

/** Other kinds use another protocol than HTTP, or credentials that the operator owns. */
function checkMayName(
  caller: Principal,
  { kind = 'webhook', broker, config, credentials }: Naming,
): void {
  const isOpen = openKinds.includes(kind) &&
    [broker, config, credentials].every((member) => member === undefined)
  if (isOpen || caller.kind === 'key') return
  throw keyRequired(`An endpoint of the kind ${kind} with these settings is created and changed`)
}

/** The module that is not installed, if the database refuses a kind of this project; else null. */
function missingKind(error: unknown, kind = 'webhook'): ApiError | null {
  if (!(error instanceof ApiError) || error.field !== 'kind') return null
  const missing = kindNotInstalled(kind)
  return missing === null ? null : moduleMissing(missing, `There is no kind ${kind}`)
}
