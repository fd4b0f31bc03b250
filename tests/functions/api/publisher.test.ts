/** What the check of payloads costs an organisation that publishes. */

import { expect } from '@std/expect'
import { apiDatabase } from '../../../functions/api/database.ts'
import { createPublisher, type PublishedEvent } from '../../../functions/api/publisher.ts'

/** Publishes as a strict organisation with these schemas, and returns the charges beside the outcome. */
async function publishAs(
  types: Record<string, unknown>,
  events: { type: string; payload: unknown }[],
): Promise<{ outcome: unknown; charged: number[] }> {
  const database = apiDatabase((_name, args) => {
    const isCurrent = 'p_catalogue' in args
    const catalogue = { strict: true, version: '1', types }
    return Promise.resolve({
      ok: true,
      data: isCurrent ? { ids: events.map((_, at) => `${at}`), duplicates: [] } : { catalogue },
    })
  })
  const charged: number[] = []
  const rows = events.map(({ type, payload }): PublishedEvent => {
    return { fields: {}, type, payload, body: JSON.stringify(payload) }
  })
  const outcome = await createPublisher(database)('org-1', rows, null, undefined, (requests) => {
    charged.push(requests)
  }).catch((error) => error)
  return { outcome, charged }
}

Deno.test('an ordinary event costs its organisation no further request', async () => {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
  expect(await publishAs({ a: schema }, [{ type: 'a', payload: { id: 1 } }]))
    .toEqual({ outcome: { ids: ['0'], duplicates: [] }, charged: [0] })
})

Deno.test('a check of many steps counts as further requests', async () => {
  const schema = { items: { type: 'integer', minimum: 0, maximum: 9, not: { const: 2 } } }
  const payload = Array(400_000).fill(1)
  const { outcome, charged } = await publishAs({ a: schema }, [{ type: 'a', payload }])
  expect(outcome).toEqual({ ids: ['0'], duplicates: [] })
  // 7 to 8 steps for each element.
  expect(charged[0]).toBeGreaterThanOrEqual(4)
  expect(charged[0]).toBeLessThan(8)
})

Deno.test('a check of too many steps is refused with the name of the type, and is charged', async () => {
  const schema = { items: { anyOf: Array.from({ length: 800 }, (_, at) => ({ const: at + 1 })) } }
  const payloads = [[1, 2], Array(20_000).fill(800)]
  const { outcome, charged } = await publishAs(
    { 'order.paid': schema },
    payloads.map((payload) => ({ type: 'order.paid', payload })),
  )
  expect(outcome).toMatchObject({
    code: 'schema_mismatch',
    status: 422,
    field: 'events.1.payload',
    message: 'events.1.payload is too costly to check: the schema of order.paid takes more than ' +
      '900,030 steps',
    remedy: expect.stringContaining('simplify the schema'),
  })
  expect(charged).toEqual([1])
})
