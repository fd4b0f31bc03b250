import { expect } from '@std/expect'
import type { Principal } from '../../../functions/api/auth/principal.ts'
import type { Scope } from '../../../functions/api/auth/scopes.ts'
import { apiAlone } from '../../_support/api_alone.ts'

const at = '2026-03-01T12:00:00.000Z'
const endpoint = 'aaaaaaaa-0000-4000-8000-000000000000'
const ids: Record<string, string> = {
  'order.paid': '01900000-0000-7000-8000-00000000000b',
  'outhook.message': '01900000-0000-7000-8000-00000000000a',
}
const types = Object.keys(ids)
const found = {
  events: types.map((type) => ({
    ...{ id: ids[type], type, partitionKey: null, correlationId: 'cart-7', idempotencyKey: null },
    ...{ traceparent: null, endpointId: null, deliverAt: null, createdAt: at },
  })),
  deliveries: types.map((eventType) => ({
    ...{ id: `${ids[eventType]}.${endpoint}`, eventId: ids[eventType], endpointId: endpoint },
    ...{ eventType, status: 'delivered', reason: null, attempt: 1, failedAttempts: 0 },
    ...{ nextAttemptAt: null, createdAt: at, finishedAt: at },
  })),
  deadLetters: types.map((eventType) => ({
    ...{ id: ids[eventType], eventId: ids[eventType], endpointId: endpoint, eventType },
    ...{ partitionKey: null, correlationId: 'cart-7', idempotencyKey: null, eventCreatedAt: at },
    ...{ why: 'failed', error: 'e', retryCount: 1, attempt: 1, failedAt: at, status: 'open' },
    ...{ replayedAt: null, deliveredAt: null, discardedAt: null, note: null },
  })),
  messages: [],
  auditEvents: [{
    ...{ id: '1', entityType: 'OUTBOUND_MESSAGE', entityId: '7', action: 'SENT', details: '' },
    ...{ actor: null, correlationId: 'cart-7', at, data: {} },
  }],
  moreOf: ['deliveries', 'messages', 'auditEvents'],
}

/** The response to a search with these scopes, by its status and the types in its lists. */
async function search(scopes: Scope[], portal: Principal['portal'] = null): Promise<unknown> {
  const app = apiAlone({ result: () => found, scopes, portal })
  const response = await app.request('/api/v1/search?correlationId=cart-7')
  if (!response.ok) return response.status
  const { events, deliveries, deadLetters, auditEvents, more } = await response.json()
  const typesOf = (list: { type?: string; eventType?: string }[]): unknown =>
    list.map(({ type, eventType }) => type ?? eventType)
  return [typesOf(events), typesOf(deliveries), typesOf(deadLetters), auditEvents.length, more]
}

Deno.test('a search shows each list, and whether it has more, only to a token with the scope of that list', async () => {
  const order = ['order.paid']
  expect(await search([])).toBe(403)
  expect(await search(['deliveries:read', 'messages:read', 'audit:read'])).toBe(403)
  expect(await search(['events:read'])).toEqual([order, [], [], 0, false])
  expect(await search(['events:read', 'deliveries:read'])).toEqual([order, order, order, 0, true])
  expect(await search(['events:read', 'messages:read'])).toEqual([types, [], [], 0, true])
  expect(await search(['events:read', 'audit:read'])).toEqual([order, [], [], 1, true])
  expect(await search(['events:read', 'deliveries:read', 'messages:read', 'audit:read']))
    .toEqual([types, types, types, 1, true])
})

Deno.test('a portal token with limits may not search', async () => {
  const scopes: Scope[] = ['events:read', 'deliveries:read']
  const portal = { id: endpoint, generation: 0 }
  expect(await search(scopes, { ...portal, limits: null })).not.toBe(403)
  const limits = { endpointIds: null, eventTypes: ['order.*'] }
  expect(await search(scopes, { ...portal, limits })).toBe(403)
})
