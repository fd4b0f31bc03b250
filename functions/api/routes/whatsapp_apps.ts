import { createRoute } from '../zod_openapi.ts'
import type { ApiApp } from '../context.ts'
import {
  newWhatsappAppSchema,
  whatsappAppParams,
  whatsappAppSchema,
} from '../schemas/whatsapp_apps.ts'
import { jsonBody, jsonResponse, needsKey, problems } from './route.ts'

const tags = ['Channels']
const path = '/whatsapp-apps/{appId}'

const get = createRoute({
  method: 'get',
  path,
  operationId: 'getWhatsappApp',
  summary: 'Get a Meta app (needs a secret key)',
  tags,
  ...needsKey(),
  request: { params: whatsappAppParams },
  responses: { ...problems('not_found'), 200: jsonResponse(whatsappAppSchema, 'The app') },
})

const put = createRoute({
  method: 'put',
  path,
  operationId: 'putWhatsappApp',
  summary: 'Register a Meta app or rotate its secret (needs a secret key)',
  tags,
  ...needsKey(),
  request: { params: whatsappAppParams, body: jsonBody(newWhatsappAppSchema) },
  responses: { ...problems(), 200: jsonResponse(whatsappAppSchema, 'The app') },
})

/** `/whatsapp-apps/:appId`. Several organisations may share an app, so no token of one is enough. */
export function addWhatsappAppRoutes(app: ApiApp): void {
  app.openapi(get, async (c) => {
    const result = await c.get('database').call('get_whatsapp_app', {
      p_app_id: c.req.valid('param').appId,
    }, whatsappAppSchema)
    return c.json(result, 200)
  })

  app.openapi(put, async (c) => {
    const { secret, overlapSeconds, allowUnsigned } = c.req.valid('json')
    const result = await c.get('database').call('put_whatsapp_app', {
      p_app_id: c.req.valid('param').appId,
      p_allow_unsigned: allowUnsigned,
      p_overlap: `${overlapSeconds} seconds`,
      ...secret === undefined ? {} : { p_secret: secret },
    }, whatsappAppSchema)
    return c.json(result, 200)
  })
}
