import { createRoute } from '../zod_openapi.ts'
import { z } from 'zod'
import type { Principal } from '../auth/principal.ts'
import type { ApiApp } from '../context.ts'
import { messageType } from '../middleware/message_rule.ts'
import { foundSchema, searchQuery } from '../schemas/search.ts'
import { jsonResponse, needs, problems } from './route.ts'

const search = createRoute({
  method: 'get',
  path: '/search',
  operationId: 'search',
  summary: 'Find what belongs to a correlation id or to an idempotency key',
  description:
    'Deliveries and dead letters need the scope `deliveries:read`, messages and their events ' +
    '`messages:read`, and the audit trail `audit:read`: without it, these lists are empty.',
  tags: ['Search'],
  ...needs('events:read'),
  request: { query: searchQuery },
  responses: { ...problems(), 200: jsonResponse(foundSchema, 'What was found') },
})

/** `/search`. */
export function addSearchRoutes(app: ApiApp): void {
  app.openapi(search, async (c) => {
    const { correlationId, idempotencyKey, limit } = c.req.valid('query')
    const principal = c.get('principal')
    // It reads several lists.
    c.get('charge')?.(2)
    const found = await c.get('database').call('search_org', {
      p_org_id: principal.orgId,
      p_limit: limit,
      ...correlationId === undefined ? {} : { p_correlation_id: correlationId },
      ...idempotencyKey === undefined ? {} : { p_idempotency_key: idempotencyKey },
    }, storedSchema)
    return c.json(within(principal, found), 200)
  })
}

type Found = z.infer<typeof foundSchema>

const storedSchema = foundSchema.omit({ more: true }).extend({
  /** The lists that have more than the limit. */
  moreOf: z.array(foundSchema.omit({ more: true }).keyof()),
})

/** What the scopes of the caller allow. `more` says nothing about a list that the caller may not see. */
function within({ scopes }: Principal, found: z.infer<typeof storedSchema>): Found {
  const messages = scopes.has('messages:read')
  const deliveries = scopes.has('deliveries:read')
  const visible = {
    events: true,
    deliveries,
    deadLetters: deliveries,
    messages,
    auditEvents: scopes.has('audit:read'),
  }
  const isShown = (type: string): boolean => messages || type !== messageType
  return {
    events: found.events.filter(({ type }) => isShown(type)),
    deliveries: found.deliveries.filter(({ eventType }) => deliveries && isShown(eventType)),
    deadLetters: found.deadLetters.filter(({ eventType }) => deliveries && isShown(eventType)),
    messages: messages ? found.messages : [],
    auditEvents: visible.auditEvents ? found.auditEvents : [],
    more: found.moreOf.some((list) => visible[list]),
  }
}
