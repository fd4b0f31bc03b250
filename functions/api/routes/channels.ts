import { createRoute } from '../zod_openapi.ts'
import type { ApiApp, RouteDeps } from '../context.ts'
import { channelAccessSchema } from '../channel_check/access.ts'
import {
  channelChangeSchema,
  channelCheckSchema,
  channelParams,
  channelSchema,
  channelsSchema,
  deletedChannelSchema,
  newChannelSchema,
  newTokenSchema,
} from '../schemas/channels.ts'
import {
  createdResponse,
  jsonBody,
  jsonResponse,
  needs,
  needsKey,
  problems,
  setLocation,
} from './route.ts'

const tags = ['Channels']

const list = createRoute({
  method: 'get',
  path: '/channels',
  operationId: 'listChannels',
  summary: 'List channels, newest first',
  tags,
  ...needs('messages:read'),
  responses: { ...problems(), 200: jsonResponse(channelsSchema, 'The channels') },
})

const create = createRoute({
  method: 'post',
  path: '/channels',
  operationId: 'createChannel',
  summary: 'Create a channel (needs a secret key)',
  tags,
  // Only the operator says which organisation owns a number, so that nobody registers another's.
  ...needsKey(),
  request: { body: jsonBody(newChannelSchema) },
  responses: {
    ...problems('limit_reached', 'organisation_moved'),
    201: createdResponse(channelSchema, 'The channel'),
  },
})

const get = createRoute({
  method: 'get',
  path: '/channels/{channelId}',
  operationId: 'getChannel',
  summary: 'Get a channel',
  tags,
  ...needs('messages:read'),
  request: { params: channelParams },
  responses: { ...problems('not_found'), 200: jsonResponse(channelSchema, 'The channel') },
})

const setToken = createRoute({
  method: 'put',
  path: '/channels/{channelId}/access-token',
  operationId: 'setChannelToken',
  summary: 'Replace the access token of a channel',
  tags,
  ...needs('channels:write'),
  request: { params: channelParams, body: jsonBody(newTokenSchema) },
  responses: { ...problems('not_found'), 200: jsonResponse(channelSchema, 'The channel') },
})

const setDefault = createRoute({
  method: 'post',
  path: '/channels/{channelId}/default',
  operationId: 'setDefaultChannel',
  summary: 'Make this channel the default',
  tags,
  ...needs('channels:write'),
  request: { params: channelParams },
  responses: { ...problems('not_found'), 200: jsonResponse(channelSchema, 'The channel') },
})

const update = createRoute({
  method: 'patch',
  path: '/channels/{channelId}',
  operationId: 'updateChannel',
  summary: 'Change a channel',
  tags,
  ...needs('channels:write'),
  request: { params: channelParams, body: jsonBody(channelChangeSchema) },
  responses: { ...problems('not_found'), 200: jsonResponse(channelSchema, 'The channel') },
})

const remove = createRoute({
  method: 'delete',
  path: '/channels/{channelId}',
  operationId: 'deleteChannel',
  summary: 'Delete a channel; its unsent messages fail',
  tags,
  ...needs('channels:write'),
  request: { params: channelParams },
  responses: {
    ...problems('not_found'),
    200: jsonResponse(deletedChannelSchema, 'The channel is deleted'),
  },
})

const resume = createRoute({
  method: 'post',
  path: '/channels/{channelId}/resume',
  operationId: 'resumeChannel',
  summary: 'Resume a held channel; its waiting messages are sent',
  tags,
  ...needs('channels:write'),
  request: { params: channelParams },
  responses: { ...problems('not_found'), 200: jsonResponse(channelSchema, 'The channel, enabled') },
})

const check = createRoute({
  method: 'post',
  path: '/channels/{channelId}/check',
  operationId: 'checkChannel',
  summary: "Check a channel's token, number, webhook subscription and templates at Meta",
  tags,
  ...needs('channels:write'),
  request: { params: channelParams },
  responses: {
    ...problems('not_found'),
    200: jsonResponse(channelCheckSchema, 'What was found, each with its remedy'),
  },
})

/** The number of requests to Meta, of which each counts for the limit of the organisation. */
const requestsOfCheck = 4

/** `/channels`: list, create, get, change, delete, set the token, make it the default, resume, check. */
export function addChannelRoutes(app: ApiApp, { checkChannel, wallNow }: RouteDeps): void {
  app.openapi(list, async (c) => {
    const { orgId } = c.get('principal')
    return c.json(
      await c.get('database').call('list_channels', { p_org_id: orgId }, channelsSchema),
      200,
    )
  })

  app.openapi(create, async (c) => {
    const principal = c.get('principal')
    const body = c.req.valid('json')
    const { description, messagesPerSecond, pairSeconds } = body
    const channel = await c.get('database').call('create_channel', {
      p_org_id: principal.orgId,
      p_phone_number_id: body.phoneNumberId,
      p_waba_id: body.wabaId,
      p_app_id: body.appId,
      p_access_token: body.accessToken,
      ...description === undefined ? {} : { p_description: description },
      ...messagesPerSecond === undefined ? {} : { p_messages_per_second: messagesPerSecond },
      ...pairSeconds === undefined ? {} : { p_pair_seconds: pairSeconds },
    }, channelSchema)
    setLocation(c, channel.id)
    return c.json(channel, 201)
  })

  app.openapi(get, async (c) => {
    const channel = await c.get('database').call('get_channel', {
      p_org_id: c.get('principal').orgId,
      p_channel_id: c.req.valid('param').channelId,
    }, channelSchema)
    return c.json(channel, 200)
  })

  app.openapi(setToken, async (c) => {
    const { orgId, actor } = c.get('principal')
    const channel = await c.get('database').call('set_channel_token', {
      p_org_id: orgId,
      p_channel_id: c.req.valid('param').channelId,
      p_access_token: c.req.valid('json').accessToken,
      p_actor: actor,
    }, channelSchema)
    return c.json(channel, 200)
  })

  app.openapi(setDefault, async (c) => {
    const { orgId, actor } = c.get('principal')
    const channel = await c.get('database').call('set_default_channel', {
      p_org_id: orgId,
      p_channel_id: c.req.valid('param').channelId,
      p_actor: actor,
    }, channelSchema)
    return c.json(channel, 200)
  })

  app.openapi(update, async (c) => {
    const { orgId, actor } = c.get('principal')
    const channel = await c.get('database').call('update_channel', {
      p_org_id: orgId,
      p_channel_id: c.req.valid('param').channelId,
      p_change: c.req.valid('json'),
      p_actor: actor,
    }, channelSchema)
    return c.json(channel, 200)
  })

  app.openapi(remove, async (c) => {
    const { orgId, actor } = c.get('principal')
    const deleted = await c.get('database').call('delete_channel', {
      p_org_id: orgId,
      p_channel_id: c.req.valid('param').channelId,
      p_actor: actor,
    }, deletedChannelSchema)
    return c.json(deleted, 200)
  })

  app.openapi(resume, async (c) => {
    const { orgId, actor } = c.get('principal')
    const channel = await c.get('database').call('resume_channel', {
      p_org_id: orgId,
      p_channel_id: c.req.valid('param').channelId,
      p_actor: actor,
    }, channelSchema)
    return c.json(channel, 200)
  })

  app.openapi(check, async (c) => {
    const access = await c.get('database').call('get_channel_access', {
      p_org_id: c.get('principal').orgId,
      p_channel_id: c.req.valid('param').channelId,
    }, channelAccessSchema)
    c.get('charge')?.(requestsOfCheck - 1)
    const checks = await checkChannel(access)
    const isOk = checks.every(({ result }) => result === 'ok' || result === 'warning')
    const checkedAt = new Date(wallNow()).toISOString()
    return c.json({ id: access.channelId, ok: isOk, checkedAt, checks }, 200)
  })
}
