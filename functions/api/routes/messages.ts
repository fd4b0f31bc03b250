import { createRoute } from '../zod_openapi.ts'
import { e164 } from '../../_shared/messages/whatsapp/phone.ts'
import type { Json } from '../../_shared/database/database.types.ts'
import type { ApiApp, RouteDeps } from '../context.ts'
import type { FunctionArgs } from '../../_shared/database/functions.ts'
import { ApiError, type ErrorCode } from '../errors.ts'
import { publishSpan } from '../publish_span.ts'
import { chargeCounted } from '../rows_read.ts'
import {
  createdMessageSchema,
  messageCountsSchema,
  messageDetailSchema,
  messageKeyHeader,
  messagePageSchema,
  messageParams,
  messageQuery,
  messageSchema,
  newMessageSchema,
  payloadSchemas,
  resendQuery,
} from '../schemas/messages.ts'
import { createdResponse, jsonBody, jsonResponse, needs, problems, setLocation } from './route.ts'

const tags = ['Messages']

type Refusal = { code: ErrorCode; remedy: string }
const consentRefusal: Refusal = {
  code: 'consent_required',
  remedy: 'Record the consent under /dossiers/{dossierId}/consents, or do not send',
}
/** The refusals of a message by policy, with their remedies. */
const refusals: Record<string, Refusal> = {
  consent_required: consentRefusal,
  opted_out: {
    code: 'opted_out',
    remedy: 'Do not send: the recipient has opted out of these messages',
  },
  outside_window: {
    code: 'outside_window',
    remedy: 'Send a template, or wait until the recipient writes',
  },
}
const path = '/outbound/messages'

const create = createRoute({
  method: 'post',
  path,
  operationId: 'createMessage',
  summary: 'Queue a message',
  tags,
  ...needs('messages:send'),
  request: { headers: messageKeyHeader, body: jsonBody(newMessageSchema) },
  responses: {
    ...problems(
      'not_found',
      'idempotency_conflict',
      'consent_required',
      'opted_out',
      'outside_window',
    ),
    200: jsonResponse(messageSchema, 'The message that was created before with this key'),
    201: createdResponse(messageSchema, 'The message, queued'),
  },
})

const list = createRoute({
  method: 'get',
  path,
  operationId: 'listMessages',
  summary: 'List messages, newest first',
  tags,
  ...needs('messages:read'),
  request: { query: messageQuery },
  responses: { ...problems(), 200: jsonResponse(messagePageSchema, 'A page of messages') },
})

const counts = createRoute({
  method: 'get',
  path: `${path}/counts`,
  operationId: 'countMessages',
  summary: 'Count messages by status',
  tags,
  ...needs('messages:read'),
  responses: { ...problems(), 200: jsonResponse(messageCountsSchema, 'The counts') },
})

const get = createRoute({
  method: 'get',
  path: `${path}/{messageId}`,
  operationId: 'getMessage',
  summary: 'Get a message with its attempts',
  tags,
  ...needs('messages:read'),
  request: { params: messageParams },
  responses: { ...problems('not_found'), 200: jsonResponse(messageDetailSchema, 'The message') },
})

const cancel = createRoute({
  method: 'post',
  path: `${path}/{messageId}/cancel`,
  operationId: 'cancelMessage',
  summary: 'Cancel a message that is not sent yet',
  tags,
  ...needs('messages:send'),
  request: { params: messageParams },
  responses: {
    ...problems('not_found', 'wrong_state'),
    200: jsonResponse(messageDetailSchema, 'The message, cancelled'),
  },
})

const resend = createRoute({
  method: 'post',
  path: `${path}/{messageId}/resend`,
  operationId: 'resendMessage',
  summary: 'Queue a failed message again, with all its retries',
  tags,
  ...needs('messages:send'),
  request: { params: messageParams, query: resendQuery },
  responses: {
    ...problems('not_found', 'wrong_state'),
    200: jsonResponse(messageDetailSchema, 'The message, queued'),
  },
})

/** `/outbound/messages`: create, list, count, get, cancel, resend. */
export function addMessageRoutes(app: ApiApp, { tracer = null }: RouteDeps): void {
  for (const [name, schema] of Object.entries(payloadSchemas)) {
    app.openAPIRegistry.register(name, schema)
  }

  app.openapi(create, async (c) => {
    const { orgId, actor } = c.get('principal')
    const { channel, to, payloadJson, dossierId, templateCode, channelId, correlationId } = c.req
      .valid('json')
    const key = c.req.valid('header')['idempotency-key']
    const args: FunctionArgs<'create_message'> = {
      p_org_id: orgId,
      p_channel: channel,
      p_to: e164(to) ?? to,
      // SAFETY: it was parsed from JSON.
      p_payload: payloadJson as Json,
      p_actor: actor,
      ...dossierId === undefined ? {} : { p_dossier_id: dossierId },
      ...templateCode === undefined ? {} : { p_template_code: templateCode },
      ...channelId === undefined ? {} : { p_channel_id: channelId },
      ...key === undefined ? {} : { p_idempotency_key: key },
      ...correlationId === undefined ? {} : { p_correlation_id: correlationId },
    }
    const made = await publishSpan(
      { tracer, span: c.get('span'), traceparent: c.get('traceparent') },
      { type: 'outhook.message', count: 1 },
      (traceparent) =>
        c.get('database').call('create_message', args, createdMessageSchema, { traceparent }),
      (result) => result.outcome === 'blocked' ? undefined : result.message.id,
    )
    if (made.outcome === 'blocked') {
      const { code, remedy } = refusals[made.code] ?? consentRefusal
      throw new ApiError(code, made.reason, { remedy })
    }
    if (made.outcome === 'existing') return c.json(made.message, 200)
    setLocation(c, made.message.id)
    return c.json(made.message, 201)
  })

  app.openapi(list, async (c) => {
    const { to, idempotencyKey, correlationId, ...query } = c.req.valid('query')
    const { limit, cursor, dossierId, status, channel, from, until } = query
    const page = await c.get('database').call('list_messages', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...dossierId === undefined ? {} : { p_dossier_id: dossierId },
      ...status === undefined ? {} : { p_status: status },
      ...channel === undefined ? {} : { p_channel: channel },
      ...from === undefined ? {} : { p_from: from },
      ...until === undefined ? {} : { p_to: until },
      // The schema has checked the number.
      ...to === undefined ? {} : { p_recipient: e164(to) ?? to },
      ...idempotencyKey === undefined ? {} : { p_idempotency_key: idempotencyKey },
      ...correlationId === undefined ? {} : { p_correlation_id: correlationId },
    }, messagePageSchema)
    return c.json(page, 200)
  })

  app.openapi(counts, async (c) => {
    const { orgId } = c.get('principal')
    const result = await c.get('database').call(
      'count_messages',
      { p_org_id: orgId },
      messageCountsSchema,
    )
    chargeCounted(c, Object.values(result).reduce((sum, count) => sum + count, 0))
    return c.json(result, 200)
  })

  app.openapi(get, async (c) => {
    const message = await c.get('database').call('get_message', {
      p_org_id: c.get('principal').orgId,
      p_message_id: c.req.valid('param').messageId,
    }, messageDetailSchema)
    return c.json(message, 200)
  })

  app.openapi(cancel, async (c) => {
    const { orgId, actor } = c.get('principal')
    const message = await c.get('database').call('cancel_message', {
      p_org_id: orgId,
      p_message_id: c.req.valid('param').messageId,
      p_actor: actor,
    }, messageDetailSchema)
    return c.json(message, 200)
  })

  app.openapi(resend, async (c) => {
    const { orgId, actor } = c.get('principal')
    const message = await c.get('database').call('resend_message', {
      p_org_id: orgId,
      p_message_id: c.req.valid('param').messageId,
      p_actor: actor,
      p_force: c.req.valid('query').force === 'true',
    }, messageDetailSchema)
    return c.json(message, 200)
  })
}
