import { createRoute } from '../zod_openapi.ts'
import type { z } from 'zod'
import type { ApiApp } from '../context.ts'
import { inboundPageSchema, inboundQuery } from '../schemas/inbound_messages.ts'
import { jsonResponse, needs, problems } from './route.ts'

const list = createRoute({
  method: 'get',
  path: '/inbound-messages',
  operationId: 'listInboundMessages',
  summary: 'List inbound messages, newest first',
  description: 'Without the scope `consents:read`, the lists of senders are empty.',
  tags: ['Messages'],
  ...needs('messages:read'),
  request: { query: inboundQuery },
  responses: { ...problems(), 200: jsonResponse(inboundPageSchema, 'A page of inbound messages') },
})

/** `/inbound-messages`. */
export function addInboundRoutes(app: ApiApp): void {
  app.openapi(list, async (c) => {
    const { limit, cursor, from, channelId } = c.req.valid('query')
    const { orgId, scopes } = c.get('principal')
    const messages = await c.get('database').call('list_inbound_messages', {
      p_org_id: orgId,
      p_limit: limit,
      ...cursor === undefined ? {} : { p_cursor: cursor },
      ...from === undefined ? {} : { p_recipient: from },
      ...channelId === undefined ? {} : { p_channel_id: channelId },
    }, inboundPageSchema)
    return c.json(scopes.has('consents:read') ? messages : withoutSenders(messages), 200)
  })
}

type Page = z.infer<typeof inboundPageSchema>

function withoutSenders(page: Page): Page {
  return { ...page, data: page.data.map((message) => ({ ...message, senders: [] })) }
}
