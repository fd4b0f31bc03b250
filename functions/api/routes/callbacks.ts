import { z } from '../zod_openapi.ts'
import { createBodyRoom, unverifiedBodies } from '../../_shared/http/body_room.ts'
import { createAppLookup } from '../../_shared/messages/callbacks/app_lookup.ts'
import { toResponse } from '../../_shared/messages/callbacks/response.ts'
import { receiveCallback } from '../../_shared/messages/callbacks/receive.ts'
import { fixedKey } from '../../_shared/messages/callbacks/token.ts'
import { verifyAddress } from '../../_shared/messages/callbacks/verify.ts'
import type { ApiApp, RouteDeps } from '../context.ts'
import { countsSchema } from '../schemas/callbacks.ts'
import { jsonResponse, problems } from './route.ts'

const path = '/webhooks/whatsapp/inbound'
/** The timeout of a body, as for all other routes of the API. */
const bodyMs = 10_000

const publicRoute = { path, tags: ['Callbacks'], security: [] }

/**
 * `/webhooks/whatsapp/inbound`: the callback address without an app key, which one Meta app may use. It
 * is registered before the API's limits and credentials, because WhatsApp sends larger bodies and signs
 * them. The signature is checked on the raw bytes, so these routes are only described by their schemas;
 * the shared callback code validates the request.
 */
export function addCallbackRoutes(app: ApiApp, deps: RouteDeps): void {
  app.get(path, (c) => {
    const result = verifyAddress(new URL(c.req.url), fixedKey, deps.verifySecrets)
    return toResponse(result, c.get('requestId'))
  })
  const { callbacks: database, log } = deps
  const apps = createAppLookup(database.findApp, deps.now)
  const bodies = createBodyRoom(unverifiedBodies)
  app.post(path, async (c) => {
    const result = await receiveCallback(c.req.raw, null, { bodies, apps, database, bodyMs, log })
    const response = toResponse(result, c.get('requestId'))
    deps.countCallback?.(response.status)
    return response
  })

  app.openAPIRegistry.registerPath({
    ...publicRoute,
    method: 'get',
    operationId: 'verifyWhatsappCallback',
    summary: 'Verify the callback address for WhatsApp',
    request: {
      query: z.object({
        'hub.mode': z.literal('subscribe'),
        'hub.verify_token': z.string().openapi({
          description: 'The token that `task whatsapp:token` prints.',
        }),
        'hub.challenge': z.string().regex(/^[A-Za-z0-9_-]{1,256}$/),
      }),
    },
    responses: {
      ...problems('not_configured'),
      200: {
        description: 'The challenge',
        content: { 'text/plain': { schema: z.string(), example: '1158201444' } },
      },
    },
  })
  app.openAPIRegistry.registerPath({
    ...publicRoute,
    method: 'post',
    operationId: 'receiveWhatsappCallback',
    summary: 'Receive a callback of WhatsApp',
    description:
      'It must be signed with the secret of the Meta app in the setting `whatsapp.shared_app`. The ' +
      'response is 200 when every update in it is stored.',
    request: {
      headers: z.object({
        'x-hub-signature-256': z.string().regex(/^sha256=[0-9a-f]{64}$/).optional(),
        'x-org-id': z.string().optional().openapi({
          description: 'Updates of other organisations are stored but not applied.',
        }),
      }),
      body: { required: true, content: { 'application/json': { schema: z.looseObject({}) } } },
    },
    responses: {
      ...problems('not_configured'),
      200: jsonResponse(countsSchema, 'The counts of its updates'),
    },
  })
}
