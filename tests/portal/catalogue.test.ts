/** The catalogue as static HTML. */

import { expect } from '@std/expect'
import { readCatalogue } from '../../portal/catalogue/main.ts'
import { type CatalogueChange, cataloguePage, type EventType } from '../../portal/catalogue/page.ts'

const at = '2026-03-01T12:00:00.000Z'

function eventType(change: Partial<EventType>): EventType {
  return { type: 'a.b', description: '', schema: null, createdAt: at, updatedAt: at, ...change }
}

Deno.test('cataloguePage() describes each type by its schema, in the order of the names', () => {
  const page = cataloguePage([
    eventType({
      type: 'order.paid',
      description: 'An order is paid',
      updatedAt: '2026-04-02T00:00:00.000Z',
      schema: {
        type: 'object',
        required: ['id'],
        properties: {
          id: { type: 'integer', description: 'The number of the order', minimum: 7 },
          at: { type: ['string', 'null'], format: 'date-time' },
        },
      },
    }),
    eventType({}),
  ], 'Events of the shop').replace(/>\s+</g, '><')
  expect(page.indexOf('id="a.b"')).toBeLessThan(page.indexOf('id="order.paid"'))
  expect(page).toContain('<title>Events of the shop</title>')
  expect(page).toContain('<a href="#order.paid"><code>order.paid</code></a>')
  expect(page).toContain('Since 2026-03-01, changed on 2026-04-02.')
  expect(page).toContain(
    '<tr><td><code>id</code></td><td>integer</td><td>The number of the order</td></tr>',
  )
  expect(page).toContain('<td>string or null (date-time), optional</td>')
  expect(page).toContain('&quot;id&quot;: 7')
  expect(page).toContain('The payload is not described.')
  expect(page).not.toContain('<script')
})

Deno.test('cataloguePage() writes every text as text', () => {
  const bad = `"'><script>alert(1)</script>\u202e`
  const page = cataloguePage([
    eventType({
      description: bad,
      schema: {
        title: bad,
        required: [bad],
        properties: { [bad]: { type: bad, format: bad, description: bad, const: bad } },
      },
    }),
  ], bad)
  expect(page).not.toContain('<script')
  expect(page).not.toContain('\u202e')
  expect(page).toContain('&lt;script&gt;')
})

Deno.test('cataloguePage() of an empty catalogue says so', () => {
  expect(cataloguePage([], 'Events')).toContain('No event types are described yet.')
})

Deno.test('cataloguePage() lists the changes by day, without who made them', () => {
  const change = (more: Partial<CatalogueChange>): CatalogueChange => ({
    ...{ type: 'order.paid', action: 'CHANGED', at: '2026-04-02T10:00:00.000Z', more: 0 },
    ...{ description: false, schema: true, otherRules: false, added: [], removed: [], changed: [] },
    ...more,
  })
  // The API also returns who made a change.
  const made = { ...change({ added: ['items[].sku'], removed: ['total'] }), actor: 'user:ada' }
  const page = cataloguePage([eventType({ type: 'order.paid' })], 'Events', [
    made,
    change({ description: true, schema: false }),
    change({ type: 'gone', action: 'DELETED', at }),
  ]).replace(/>\s+</g, '><')
  expect(page).toContain('<h2 id="changes:">Changes</h2><h3>2026-04-02</h3>')
  expect(page).toContain(
    '<a href="#order.paid"><code>order.paid</code></a>: Changed: added items[].sku; removed total.',
  )
  expect(page).toContain('Changed: the description.')
  expect(page).toContain(
    '<h3>2026-03-01</h3><ul><li><code>gone</code>: Deleted from the catalogue.</li></ul>',
  )
  expect(page).not.toContain('user:ada')
})

/** What readCatalogue() reads from an API that returns these changes; null: it has no history. */
async function readFrom(
  changes: object[] | null,
): Promise<Awaited<ReturnType<typeof readCatalogue>>> {
  const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => {} }, ({ url }) => {
    if (url.includes('/event-types')) {
      return Response.json({ data: [eventType({ type: 'order.paid' })], nextCursor: null })
    }
    return changes === null
      ? Response.json({ code: 'not_found', status: 404, title: 'x', detail: 'x' }, { status: 404 })
      : Response.json({ data: changes, nextCursor: null })
  })
  try {
    return await readCatalogue(
      `http://127.0.0.1:${server.addr.port}/functions/v1/api`,
      'sb_secret_1',
      'default',
    )
  } finally {
    await server.shutdown()
  }
}

Deno.test('readCatalogue() leaves out the changes of types that are no longer in the catalogue', async () => {
  const { changes } = await readFrom([
    { type: 'internal', action: 'DELETED' },
    { type: 'order.paid', action: 'CREATED' },
  ])
  expect(changes.map(({ type }) => type)).toEqual(['order.paid'])
})

Deno.test('readCatalogue() reads an API of the version before, which has no history', async () => {
  const { types, changes } = await readFrom(null)
  expect([types.length, changes]).toEqual([1, []])
})
