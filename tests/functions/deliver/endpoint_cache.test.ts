import { expect } from '@std/expect'
import type { DispatchResponse, Endpoint } from '../../../functions/_shared/contract/contract.ts'
import {
  addCached,
  emptyCache,
  unlessExpired,
  withEndpoints,
} from '../../../functions/deliver/endpoint_cache.ts'
import { sampleDelivery, sampleEndpoint, sampleSettings } from '../samples.ts'

function answerOf(ids: string[], endpoints: Record<string, Endpoint>): DispatchResponse {
  const deliveries = ids.map((endpoint) => sampleDelivery({ endpoint }))
  const settings = sampleSettings()
  return {
    stale: 0,
    routed: 0,
    stop: null,
    deliveries,
    events: {},
    endpoints,
    settings,
    error: null,
  }
}

const [a, b] = [sampleEndpoint({ revision: '7' }), sampleEndpoint({ revision: '8' })]
const knowsA = withEndpoints(emptyCache(0), answerOf(['a'], { a }))

Deno.test('addCached() adds endpoints of earlier responses to deliveries', () => {
  expect(knowsA.revisions).toEqual({ a: '7' })
  expect(addCached(answerOf(['a', 'b'], { b }), knowsA).endpoints).toEqual({ a, b })
})

Deno.test('addCached() uses the cache that its call named, not later responses', () => {
  const newer = sampleEndpoint({ revision: '9', url: 'https://example.com/new' })
  const knowsNewer = withEndpoints(knowsA, answerOf(['a'], { a: newer }))
  // An older answer comes late.
  const late = withEndpoints(knowsNewer, answerOf(['a'], { a }))
  expect([knowsNewer.revisions, late.revisions]).toEqual([{ a: '9' }, { a: '7' }])
  expect(addCached(answerOf(['a'], {}), knowsNewer).endpoints).toEqual({ a: newer })
})

Deno.test('withEndpoints() returns the same cache without new endpoints', () => {
  expect(withEndpoints(knowsA, answerOf(['a'], {}))).toBe(knowsA)
})

Deno.test('withEndpoints() remembers a thousand endpoints, and the changes of those', () => {
  const names = Array.from({ length: 1001 }, (_, n) => [`e${n}`, sampleEndpoint()])
  const full = withEndpoints(emptyCache(0), answerOf([], Object.fromEntries(names)))
  expect(Object.keys(full.revisions)).toHaveLength(1000)
  const changed = withEndpoints(full, answerOf([], { e0: b, other: b }))
  expect(Object.keys(changed.revisions)).toHaveLength(1000)
  expect(changed.revisions.e0).toBe('8')
})

Deno.test('unlessExpired() forgets all after 30 s', () => {
  const known = { ...knowsA, since: 1000 }
  expect(unlessExpired(known, 30_999)).toBe(known)
  expect(unlessExpired(known, 31_000)).toEqual(emptyCache(31_000))
})
