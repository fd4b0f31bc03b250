import { createRoute } from '../zod_openapi.ts'
import { identifier } from '../../_shared/messages/whatsapp/phone.ts'
import type { ApiApp } from '../context.ts'
import {
  newOptOutSchema,
  optInQuery,
  optOutChangeSchema,
  optOutPageSchema,
  optOutParams,
  optOutQuery,
} from '../schemas/opt_outs.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Opt-outs']

const list = createRoute({
  method: 'get',
  path: '/opt-outs',
  operationId: 'listOptOuts',
  summary: 'List the opt-outs of people from all messages or from marketing',
  tags,
  ...needs('consents:read'),
  request: { query: optOutQuery },
  responses: { ...problems(), 200: jsonResponse(optOutPageSchema, 'A page of opt-outs') },
})

const put = createRoute({
  method: 'put',
  path: '/opt-outs/{recipient}',
  operationId: 'putOptOut',
  summary: 'Add an opt-out of a person, for all messages or for marketing',
  tags,
  ...needs('consents:write'),
  request: { params: optOutParams, body: jsonBody(newOptOutSchema) },
  responses: { ...problems(), 200: jsonResponse(optOutChangeSchema, 'The opt-out as it is now') },
})

const remove = createRoute({
  method: 'delete',
  path: '/opt-outs/{recipient}',
  operationId: 'deleteOptOut',
  summary: 'Remove an opt-out of a person',
  tags,
  ...needs('consents:write'),
  request: { params: optOutParams, query: optInQuery },
  responses: { ...problems(), 200: jsonResponse(optOutChangeSchema, 'The opt-out as it is now') },
})

/** `/opt-outs`: list, put, delete. */
export function addOptOutRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { limit, cursor, recipient } = c.req.valid('query')
    const page = await c.get('database').call('list_opt_outs', {
      p_org_id: c.get('principal').orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...recipient === undefined ? {} : { p_recipient: identifier(recipient) ?? recipient },
    }, optOutPageSchema)
    return c.json(page, 200)
  })

  app.openapi(put, async (c) => {
    const { orgId, actor } = c.get('principal')
    const { recipient } = c.req.valid('param')
    const { purpose, source, evidence } = c.req.valid('json')
    const result = await c.get('database').call('change_opt_out', {
      p_org_id: orgId,
      p_recipient: identifier(recipient) ?? recipient,
      p_purpose: purpose,
      p_opted_out: true,
      p_source: source,
      p_actor: actor,
      ...evidence === undefined ? {} : { p_evidence: evidence },
    }, optOutChangeSchema)
    return c.json(result, 200)
  })

  app.openapi(remove, async (c) => {
    const { orgId, actor } = c.get('principal')
    const { recipient } = c.req.valid('param')
    const { purpose, source } = c.req.valid('query')
    const result = await c.get('database').call('change_opt_out', {
      p_org_id: orgId,
      p_recipient: identifier(recipient) ?? recipient,
      p_purpose: purpose,
      p_opted_out: false,
      p_source: source ?? 'by hand',
      p_actor: actor,
    }, optOutChangeSchema)
    return c.json(result, 200)
  })
}
