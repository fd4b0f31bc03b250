import { createRoute } from '../zod_openapi.ts'
import type { Context } from 'hono'
import type { ApiApp, ApiEnv, RouteDeps } from '../context.ts'
import { unsampled } from '../../_shared/trace/context.ts'
import { chargeRows, rowsRead } from '../rows_read.ts'
import { ApiError } from '../errors.ts'
import { type Published, publishSpan } from '../publish_span.ts'
import {
  createCatalogues,
  createPublisher,
  type PublishedEvent,
  type PublishedIds,
} from '../publisher.ts'
import { findElements, findMembers } from '../raw_json.ts'
import { readEvent, refuseDuplicates } from '../read_event.ts'
import { idempotencyKeyHeader } from '../schemas/common.ts'
import {
  batchPublishedSchema,
  eventBatchSchema,
  eventDetailSchema,
  eventPageSchema,
  eventParams,
  eventsQuery,
  newEventSchema,
  publishedSchema,
  storedEventSchema,
} from '../schemas/events.ts'
import { jsonBody, jsonResponse, needs, problems, rawJson } from './route.ts'

const tags = ['Events']

const list = createRoute({
  method: 'get',
  path: '/events',
  operationId: 'listEvents',
  summary: 'List events, newest first. A page may be short; the list ends with a null cursor',
  tags,
  ...needs('events:read'),
  request: { query: eventsQuery },
  responses: { ...problems(), 200: jsonResponse(eventPageSchema, 'A page of events') },
})

const publishOne = createRoute({
  method: 'post',
  path: '/events',
  operationId: 'publishEvent',
  summary: 'Publish an event',
  tags,
  ...needs('events:publish'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(newEventSchema) },
  responses: {
    ...problems('not_found', 'idempotency_conflict', 'schema_mismatch', 'organisation_moved'),
    202: jsonResponse(publishedSchema, 'It is stored and will be delivered'),
  },
})

const publishBatch = createRoute({
  method: 'post',
  path: '/events/batch',
  operationId: 'publishEvents',
  summary: 'Publish up to 1,000 events, all or none',
  tags,
  ...needs('events:publish'),
  request: { headers: idempotencyKeyHeader, body: jsonBody(eventBatchSchema) },
  responses: {
    ...problems('not_found', 'idempotency_conflict', 'schema_mismatch', 'organisation_moved'),
    202: jsonResponse(batchPublishedSchema, 'They are stored and will be delivered'),
  },
})

const get = createRoute({
  method: 'get',
  path: '/events/{eventId}',
  operationId: 'getEvent',
  summary: 'Get an event with its payload and its deliveries',
  tags,
  ...needs('events:read'),
  request: { params: eventParams },
  responses: { ...problems('not_found'), 200: jsonResponse(eventDetailSchema, 'The event') },
})

/** `/events`: publish one or many, list, get. */
export function addEventRoutes(app: ApiApp, { tracer = null }: RouteDeps): void {
  const catalogues = createCatalogues()

  async function publishAll(
    c: Context<ApiEnv>,
    events: PublishedEvent[],
    key?: string,
  ): Promise<PublishedIds> {
    const { orgId, kind } = c.get('principal')
    const trace = { tracer, span: c.get('span'), traceparent: c.get('traceparent') }
    // The flag of a caller with a token must not decide what is recorded.
    const given = kind === 'key' || trace.span !== null ? events : events.map(unsampledEvent)
    return await publishSpan(trace, describe(events), (traceparent) => {
      const publish = createPublisher(c.get('database'), catalogues)
      return publish(orgId, given, traceparent, key, c.get('charge'))
    }, ({ ids }) => ids.length === 1 ? ids[0] : undefined)
  }

  app.openapi(list, async (c) => {
    const { cursor, limit, type, partitionKey, from, to } = c.req.valid('query')
    const { rows, ...page } = await c.get('database').call('list_events', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...type === undefined ? {} : { p_event_type: type },
      ...partitionKey === undefined ? {} : { p_partition_key: partitionKey },
      ...from === undefined ? {} : { p_from: from },
      ...to === undefined ? {} : { p_to: to },
    }, eventPageSchema.extend({ rows: rowsRead }))
    chargeRows(c, rows)
    return c.json(page, 200)
  })

  app.openapi(publishOne, async (c) => {
    const key = c.req.valid('header')['idempotency-key']
    const text = await c.req.text()
    const event = readEvent(text, 0, { ...c.req.valid('json'), idempotencyKey: key }, '')
    const { ids: [id = ''], duplicates } = await publishAll(c, [event]).catch(asSingle)
    return c.json({ id, duplicate: duplicates.length > 0 }, 202)
  })

  app.openapi(publishBatch, async (c) => {
    const key = c.req.valid('header')['idempotency-key']
    const text = await c.req.text()
    const members = refuseDuplicates(() => findMembers(text), '')
    const spans = findElements(text, members.get('events')?.start)
    const events = c.req.valid('json').events.map((event, at) => {
      return readEvent(text, spans[at]?.start ?? 0, event, `events.${at}.`)
    })
    return c.json(await publishAll(c, events, key), 202)
  })

  app.openapi(get, async (c) => {
    const { body, ...event } = await c.get('database').call('get_event', {
      p_org_id: c.get('principal').orgId,
      p_event_id: c.req.valid('param').eventId,
    }, storedEventSchema)
    return rawJson(c, `${JSON.stringify(event).slice(0, -1)},"payload":${body}}`)
  })
}

function describe(events: readonly PublishedEvent[]): Published {
  const types = new Set(events.map(({ type }) => type))
  const [type = ''] = types
  return {
    type: types.size === 1 ? type : 'several types',
    count: events.length,
    bytes: events.reduce((sum, { body }) => sum + body.length, 0),
  }
}

function unsampledEvent(event: PublishedEvent): PublishedEvent {
  const traceparent = unsampled(event.fields.traceparent ?? null)
  if (traceparent === null) return event
  return { ...event, fields: { ...event.fields, traceparent } }
}

/** Removes the index from an error: a single event is published as a batch of one. */
function asSingle(error: unknown): never {
  if (!(error instanceof ApiError)) throw error
  const strip = (text: string): string => text.replace(/^events(\.0\.|\[0\]: )/, '')
  throw new ApiError(error.code, strip(error.message), {
    field: error.field === undefined ? undefined : strip(error.field),
    remedy: error.remedy,
    headers: error.headers,
    cause: error.cause,
  })
}
