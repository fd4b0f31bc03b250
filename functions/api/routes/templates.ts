import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import {
  newTemplateSchema,
  templateParams,
  templateSchema,
  templatesSchema,
} from '../schemas/templates.ts'
import { jsonBody, jsonResponse, needs, problems } from './route.ts'

const tags = ['Templates']

const list = createRoute({
  method: 'get',
  path: '/templates',
  operationId: 'listTemplates',
  summary: 'List templates by code',
  tags,
  ...needs('messages:read'),
  responses: { ...problems(), 200: jsonResponse(templatesSchema, 'The templates') },
})

const put = createRoute({
  method: 'put',
  path: '/templates/{templateCode}',
  operationId: 'putTemplate',
  summary: 'Assign a template of Meta to a code',
  tags,
  ...needs('templates:write'),
  request: { params: templateParams, body: jsonBody(newTemplateSchema) },
  responses: { ...problems('limit_reached'), 200: jsonResponse(templateSchema, 'The template') },
})

const remove = createRoute({
  method: 'delete',
  path: '/templates/{templateCode}',
  operationId: 'deleteTemplate',
  summary: 'Delete a template; its waiting messages fail',
  tags,
  ...needs('templates:write'),
  request: { params: templateParams },
  responses: {
    ...problems('not_found'),
    200: jsonResponse(templateSchema, 'The deleted template'),
  },
})

/** `/templates`: list, put, delete. */
export function addTemplateRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { orgId } = c.get('principal')
    return c.json(
      await c.get('database').call('list_templates', { p_org_id: orgId }, templatesSchema),
      200,
    )
  })

  app.openapi(put, async (c) => {
    const { orgId, actor } = c.get('principal')
    const { name, language, category, parameterFormat } = c.req.valid('json')
    const template = await c.get('database').call('put_template', {
      p_org_id: orgId,
      p_code: c.req.valid('param').templateCode,
      p_name: name,
      p_language: language,
      p_category: category,
      p_actor: actor,
      ...parameterFormat === undefined ? {} : { p_parameter_format: parameterFormat },
    }, templateSchema)
    return c.json(template, 200)
  })

  app.openapi(remove, async (c) => {
    const { orgId, actor } = c.get('principal')
    const template = await c.get('database').call('delete_template', {
      p_org_id: orgId,
      p_code: c.req.valid('param').templateCode,
      p_actor: actor,
    }, templateSchema)
    return c.json(template, 200)
  })
}
