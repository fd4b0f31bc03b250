import { expect } from '@std/expect'
import type { DispatchAnswer, Endpoint } from '../../../functions/_shared/contract/contract.ts'
import { fillIn, knowNothing, learn, stillKnown } from '../../../functions/deliver/known.ts'
import { sampleDelivery, sampleEndpoint, sampleSettings } from '../samples.ts'

function answerOf(ids: string[], endpoints: Record<string, Endpoint>): DispatchAnswer {
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
const knowsA = learn(knowNothing(0), answerOf(['a'], { a }))

Deno.test('fillIn() gives deliveries the endpoints that were told before', () => {
  expect(knowsA.revisions).toEqual({ a: '7' })
  expect(fillIn(answerOf(['a', 'b'], { b }), knowsA).endpoints).toEqual({ a, b })
})

Deno.test('fillIn() goes by what its call named, whatever was told since', () => {
  const newer = sampleEndpoint({ revision: '9', url: 'https://example.com/new' })
  const knowsNewer = learn(knowsA, answerOf(['a'], { a: newer }))
  // An older answer comes late.
  const late = learn(knowsNewer, answerOf(['a'], { a }))
  expect([knowsNewer.revisions, late.revisions]).toEqual([{ a: '9' }, { a: '7' }])
  expect(fillIn(answerOf(['a'], {}), knowsNewer).endpoints).toEqual({ a: newer })
})

Deno.test('learn() keeps what it knows when nothing new was told', () => {
  expect(learn(knowsA, answerOf(['a'], {}))).toBe(knowsA)
})

Deno.test('learn() remembers a thousand endpoints, and the changes of those', () => {
  const names = Array.from({ length: 1001 }, (_, n) => [`e${n}`, sampleEndpoint()])
  const full = learn(knowNothing(0), answerOf([], Object.fromEntries(names)))
  expect(Object.keys(full.revisions)).toHaveLength(1000)
  const changed = learn(full, answerOf([], { e0: b, other: b }))
  expect(Object.keys(changed.revisions)).toHaveLength(1000)
  expect(changed.revisions.e0).toBe('8')
})

Deno.test('stillKnown() forgets all after 30 s', () => {
  const known = { ...knowsA, since: 1000 }
  expect(stillKnown(known, 30_999)).toBe(known)
  expect(stillKnown(known, 31_000)).toEqual(knowNothing(31_000))
})
