/** What the check of payloads costs an organisation that publishes. */

import { expect } from '@std/expect'
import { CatalogueCache } from '../../../functions/api/catalogue_cache.ts'
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
  expect(charged[1]).toBeGreaterThanOrEqual(4)
  expect(charged[1]).toBeLessThan(8)
})

for (const [count, charged] of [[9, [0]], [10, [1, 0]], [1000, [100, 0]]] as const) {
  Deno.test(`${count} small events cost ${charged[0]} further requests`, async () => {
    const events = Array.from({ length: count }, (_, id) => ({ type: 'a', payload: { id } }))
    expect((await publishAs({ a: true }, events)).charged).toEqual(charged)
  })
}

for (const [characters, charged] of [[65_535, [0]], [65_536, [1, 0]], [200_000, [3, 0]]] as const) {
  Deno.test(`a payload of ${characters} characters costs ${charged[0]} further requests`, async () => {
    // Two of them are the quotes.
    const payload = 'x'.repeat(characters - 2)
    expect((await publishAs({ a: true }, [{ type: 'a', payload }])).charged).toEqual(charged)
  })
}

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
  expect(charged).toEqual([1, 1])
})

Deno.test('the schemas of a catalogue are compiled once, also if its events are refused', async () => {
  const large = { type: 'integer', anyOf: Array.from({ length: 4900 }, () => ({})) }
  const types = Array.from({ length: 8 }, (_, at) => `t${at}`)
  const database = apiDatabase(() => {
    // As from the network: each reply has new objects.
    const copies = types.map((type) => [type, structuredClone(large)])
    const catalogue = { strict: true, version: '1', types: Object.fromEntries(copies) }
    return Promise.resolve({
      ok: true,
      data: { catalogue },
    })
  })
  const publish = createPublisher(database)
  const events = types.map((type, at): PublishedEvent => {
    const payload = at < 7 ? 1 : 'x'
    return { fields: {}, type, payload, body: JSON.stringify(payload) }
  })
  const charges: number[][] = []
  for (let time = 0; time < 3; time++) {
    const charged: number[] = []
    charges.push(charged)
    await expect(publish('org-1', events, null, undefined, (requests) => charged.push(requests)))
      .rejects.toMatchObject({ code: 'schema_mismatch', field: 'events.7.payload' })
  }
  // 100 steps for each of 8 times 4,901 schemas, and one for each character.
  // The catalogue has 118,000 characters.
  expect(charges).toEqual([[1, 8], [0], [0]])
})

Deno.test('a refused event is checked again only against another version of the catalogue', async () => {
  let version = 1
  const types = (): unknown => ({ a: { type: version < 3 ? 'string' : 'integer' } })
  const calls: string[] = []
  const database = apiDatabase((name, args) => {
    calls.push(name)
    const catalogue = { strict: true, version: `${version}`, types: types() }
    const isCurrent = 'p_catalogue' in args && args.p_catalogue === catalogue.version
    const data = isCurrent ? { ids: ['1'], duplicates: [] } : { catalogue }
    return Promise.resolve({ ok: true, data })
  })
  const publish = createPublisher(database)
  const event: PublishedEvent = { fields: {}, type: 'a', payload: 1, body: '1' }
  const refused = { code: 'schema_mismatch' }
  await expect(publish('org-1', [event], null)).rejects.toMatchObject(refused)
  await expect(publish('org-1', [event], null)).rejects.toMatchObject(refused)
  version = 3
  expect(await publish('org-1', [event], null)).toEqual({ ids: ['1'], duplicates: [] })
  expect(calls).toEqual(Array(4).fill('publish_events'))
})

Deno.test('an event that was published before is published again by its key, whatever the catalogue is now', async () => {
  // The second event is new; the first one is a repeat and does not fit the catalogue any more.
  const asked: unknown[] = []
  const database = apiDatabase((_name, args) => {
    const version = 'p_catalogue' in args ? args.p_catalogue : undefined
    asked.push(version)
    const catalogue = { strict: true, version: '1', types: { b: { type: 'integer' } } }
    const data = version === '1'
      ? { ids: ['old', 'new'], duplicates: [0] }
      : { catalogue, duplicates: [0] }
    return Promise.resolve({ ok: true, data })
  })
  const publish = createPublisher(database)
  const event = (type: string, payload: unknown): PublishedEvent => {
    return { fields: {}, type, payload, body: JSON.stringify(payload) }
  }
  const events = [event('a', 1), event('b', 2)]
  const published = { ids: ['old', 'new'], duplicates: [0] }
  expect(await publish('org-1', events, null)).toEqual(published)
  // With the catalogue in the cache: it is asked before the event is refused.
  expect(await publish('org-1', events, null)).toEqual(published)
  expect(asked).toEqual([undefined, '1', undefined, '1'])
  await expect(publish('org-1', [event('a', 1), event('b', 'x')], null))
    .rejects.toMatchObject({ code: 'schema_mismatch', field: 'events.1.payload' })
})

Deno.test('a catalogue that is known is neither kept nor charged again when repeats are published', async () => {
  // More than 65,536 characters, so that keeping it costs a request.
  const title = 'x'.repeat(35_000)
  const types = { b: { type: 'integer', title }, c: { title } }
  const database = apiDatabase((_name, args) => {
    // As from the network: each reply has new objects.
    const catalogue = { strict: true, version: '1', types: structuredClone(types) }
    const isCurrent = 'p_catalogue' in args
    const data = isCurrent ? { ids: ['old', 'new'] } : { catalogue }
    return Promise.resolve({ ok: true, data: { ...data, duplicates: [0] } })
  })
  const publish = createPublisher(database)
  const events = ['a', 'b'].map((type): PublishedEvent => {
    return { fields: {}, type, payload: 1, body: '1' }
  })
  const charges: number[][] = []
  for (let time = 0; time < 3; time++) {
    const charged: number[] = []
    charges.push(charged)
    await publish('org-1', events, null, undefined, (requests) => charged.push(requests))
  }
  // From the second time on, the catalogue refuses the repeat and is then asked about the rest.
  expect(charges).toEqual([[1, 0], [0, 0], [0, 0]])
})

Deno.test('catalogues are kept up to a number and up to their characters, the newest always', () => {
  const catalogue = (length: number): Parameters<CatalogueCache['keep']>[1] => {
    return { strict: true, version: '1', types: { a: { title: 'x'.repeat(length) } } }
  }
  const kept = (cache: CatalogueCache): string[] => {
    return ['a', 'b', 'c', 'd'].filter((orgId) => cache.get(orgId) !== undefined)
  }
  const cache = new CatalogueCache(3, 1000)
  for (const orgId of ['a', 'b', 'c', 'd']) cache.keep(orgId, catalogue(10))
  expect(kept(cache)).toEqual(['b', 'c', 'd'])
  cache.keep('b', catalogue(940))
  expect(kept(cache)).toEqual(['b', 'd'])
  cache.keep('a', catalogue(5000))
  expect(kept(cache)).toEqual(['a'])
  cache.keep('b', catalogue(10))
  expect(kept(cache)).toEqual(['b'])
  cache.keep('b', { ...catalogue(10), strict: false })
  expect(kept(cache)).toEqual([])
})
