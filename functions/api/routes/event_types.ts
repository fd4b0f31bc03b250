import { createRoute, z } from '../zod_openapi.ts'
import type { Context } from 'hono'
import type { Principal } from '../auth/principal.ts'
import type { ApiApp, ApiEnv } from '../context.ts'
import type { FunctionArgs } from '../../_shared/database/functions.ts'
import { checkSchema, type PayloadSchema } from '../json_schema.ts'
import { idempotencyKeyHeader, pageQuery } from '../schemas/common.ts'
import {
  catalogueSettingsSchema,
  eventTypeChangeSchema,
  eventTypePageSchema,
  eventTypeParams,
  eventTypeSchema,
  newEventTypeSchema,
  recordedChangePageSchema,
  recordedChangeQuery,
} from '../schemas/event_types.ts'
import { createdResponse, jsonBody, jsonResponse, needs, problems, setLocation } from './route.ts'

const tags = ['Event types']

const list = createRoute({
  method: 'get',
  path: '/event-types',
  operationId: 'listEventTypes',
  summary: 'List event types by name',
  tags,
  ...needs('event-types:read'),
  request: { query: z.strictObject(pageQuery) },
  responses: { ...problems(), 200: jsonResponse(eventTypePageSchema, 'A page of event types') },
})

const create = createRoute({
  method: 'post',
  path: '/event-types',
  operationId: 'createEventType',
  summary: 'Create an event type; a repeat with the same content changes nothing',
  tags,
  ...needs('event-types:write'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(newEventTypeSchema) },
  responses: {
    ...problems('wrong_state', 'idempotency_conflict', 'limit_reached', 'organisation_moved'),
    201: createdResponse(eventTypeSchema, 'The event type'),
  },
})

const get = createRoute({
  method: 'get',
  path: '/event-types/{type}',
  operationId: 'getEventType',
  summary: 'Get an event type',
  tags,
  ...needs('event-types:read'),
  request: { params: eventTypeParams },
  responses: { ...problems('not_found'), 200: jsonResponse(eventTypeSchema, 'The event type') },
})

const put = createRoute({
  method: 'put',
  path: '/event-types/{type}',
  operationId: 'putEventType',
  summary: 'Create or replace an event type',
  tags,
  ...needs('event-types:write'),
  request: { params: eventTypeParams, body: jsonBody(eventTypeChangeSchema) },
  responses: {
    ...problems('limit_reached', 'organisation_moved'),
    200: jsonResponse(eventTypeSchema, 'The event type as it is now'),
  },
})

const remove = createRoute({
  method: 'delete',
  path: '/event-types/{type}',
  operationId: 'deleteEventType',
  summary: 'Delete an event type; its events stay',
  tags,
  ...needs('event-types:write'),
  request: { params: eventTypeParams },
  responses: {
    ...problems('not_found', 'organisation_moved'),
    200: jsonResponse(eventTypeSchema, 'The deleted event type'),
  },
})

const listChanges = createRoute({
  method: 'get',
  path: '/event-type-changes',
  operationId: 'listEventTypeChanges',
  summary: 'List who changed which event type, newest first',
  tags,
  ...needs('audit:read'),
  request: { query: recordedChangeQuery },
  responses: {
    ...problems(),
    200: jsonResponse(recordedChangePageSchema, 'A page of changes'),
  },
})

const getCatalogue = createRoute({
  method: 'get',
  path: '/event-catalogue',
  operationId: 'getCatalogue',
  summary: 'Get whether the catalogue is strict',
  tags,
  ...needs('event-types:read'),
  request: {},
  responses: { ...problems(), 200: jsonResponse(catalogueSettingsSchema, 'The setting') },
})

const putCatalogue = createRoute({
  method: 'put',
  path: '/event-catalogue',
  operationId: 'putCatalogue',
  summary: 'Set whether the catalogue is strict',
  tags,
  ...needs('event-types:write'),
  request: { body: jsonBody(catalogueSettingsSchema) },
  responses: {
    ...problems('organisation_moved'),
    200: jsonResponse(catalogueSettingsSchema, 'The setting'),
  },
})

/** `/event-types`, `/event-type-changes` and `/event-catalogue`. */
export function addEventTypeRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { cursor, limit } = c.req.valid('query')
    const page = await c.get('database').call('list_event_types', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
    }, eventTypePageSchema)
    chargePage(c, page.data)
    return c.json(page, 200)
  })

  app.openapi(create, async (c) => {
    const { type, ...settings } = c.req.valid('json')
    chargeSchema(c, settings.schema)
    const key = c.req.valid('header')['idempotency-key']
    const args = {
      ...typeArgs(c.get('principal'), type, settings),
      p_create: true,
      ...key === undefined ? {} : { p_key: key },
    }
    const made = await c.get('database').call('put_event_type', args, eventTypeSchema)
    setLocation(c, made.type)
    return c.json(made, 201)
  })

  app.openapi(get, async (c) => {
    const type = await c.get('database').call('get_event_type', {
      p_org_id: c.get('principal').orgId,
      p_type: c.req.valid('param').type,
    }, eventTypeSchema)
    return c.json(type, 200)
  })

  app.openapi(put, async (c) => {
    chargeSchema(c, c.req.valid('json').schema)
    const args = typeArgs(c.get('principal'), c.req.valid('param').type, c.req.valid('json'))
    return c.json(await c.get('database').call('put_event_type', args, eventTypeSchema), 200)
  })

  app.openapi(remove, async (c) => {
    const { orgId, actor } = c.get('principal')
    const type = await c.get('database').call('delete_event_type', {
      p_org_id: orgId,
      p_type: c.req.valid('param').type,
      p_actor: actor,
    }, eventTypeSchema)
    return c.json(type, 200)
  })

  app.openapi(listChanges, async (c) => {
    const { cursor, limit, type } = c.req.valid('query')
    const page = await c.get('database').call('list_event_type_changes', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...type === undefined ? {} : { p_event_type: type },
    }, recordedChangePageSchema)
    return c.json(page, 200)
  })

  app.openapi(getCatalogue, async (c) => {
    const { strict } = await c.get('database').call('read_catalogue', {
      p_org_id: c.get('principal').orgId,
      p_with_types: false,
    }, z.object({ strict: z.boolean() }))
    return c.json({ strict }, 200)
  })

  app.openapi(putCatalogue, async (c) => {
    const setting = await c.get('database').call('set_catalogue', {
      p_org_id: c.get('principal').orgId,
      p_strict: c.req.valid('json').strict,
    }, catalogueSettingsSchema)
    return c.json(setting, 200)
  })
}

/** For each full number of these characters of a page, the request counts as one more request. */
const charactersOfPage = 65_536

/** A page may have all schemas of an organisation, which are 2 MiB at most. */
function chargePage(c: Context<ApiEnv>, types: { schema: PayloadSchema | null }[]): void {
  const characters = types.reduce((sum, { schema }) => sum + JSON.stringify(schema).length, 0)
  c.get('charge')?.(Math.floor(characters / charactersOfPage))
}

/** For each full number of these characters of a schema, the request counts as one more request. */
const charactersOfRequest = 8192

/** A schema is compiled when it is saved. The work is linear in its size. */
function chargeSchema(c: Context<ApiEnv>, schema: PayloadSchema | null | undefined): void {
  const characters = schema === undefined ? 0 : JSON.stringify(schema).length
  c.get('charge')?.(Math.floor(characters / charactersOfRequest))
}

function typeArgs(
  { orgId, actor }: Principal,
  type: string,
  { description, schema }: {
    description?: string | undefined
    schema?: PayloadSchema | null | undefined
  },
): FunctionArgs<'put_event_type'> {
  const args: FunctionArgs<'put_event_type'> = {
    p_org_id: orgId,
    p_type: type,
    p_actor: actor,
  }
  if (description !== undefined) args.p_description = description
  if (schema !== undefined && schema !== null) {
    checkSchema(schema)
    // SAFETY: it was parsed from JSON.
    args.p_schema = schema as FunctionArgs<'put_event_type'>['p_schema'] & object
  }
  return args
}
