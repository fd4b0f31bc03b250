import { expect } from '@std/expect'
import type { DispatchAnswer, Endpoint } from '../../../functions/_shared/contracts.ts'
import { fillIn, knowNothing, stillKnown } from '../../../functions/deliver/known.ts'
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

Deno.test('fillIn() gives deliveries the endpoints that were told before', () => {
  const known = knowNothing(0)
  const [a, b] = [sampleEndpoint({ revision: '7' }), sampleEndpoint({ revision: '8' })]
  fillIn(answerOf(['a'], { a }), known)
  expect(known.revisions).toEqual({ a: '7' })
  expect(fillIn(answerOf(['a', 'b'], { b }), known).endpoints).toEqual({ a, b })
  expect(known.revisions).toEqual({ a: '7', b: '8' })
})

Deno.test('fillIn() goes by the newest that was told', () => {
  const known = knowNothing(0)
  const newer = sampleEndpoint({ revision: '9', url: 'https://example.com/new' })
  fillIn(answerOf(['a'], { a: sampleEndpoint({ revision: '7' }) }), known)
  fillIn(answerOf(['a'], { a: newer }), known)
  expect(known.revisions).toEqual({ a: '9' })
  expect(fillIn(answerOf(['a'], {}), known).endpoints).toEqual({ a: newer })
})

Deno.test('fillIn() remembers a thousand endpoints and passes the others on', () => {
  const known = knowNothing(0)
  const many = Object.fromEntries(
    Array.from({ length: 1001 }, (_, n) => [`e${n}`, sampleEndpoint()]),
  )
  expect(Object.keys(fillIn(answerOf([], many), known).endpoints)).toHaveLength(1001)
  expect(Object.keys(known.revisions)).toHaveLength(1000)
  fillIn(answerOf([], { e0: sampleEndpoint({ revision: '2' }) }), known)
  expect(known.revisions.e0).toBe('2')
})

Deno.test('stillKnown() forgets all after 30 s', () => {
  const known = knowNothing(1000)
  fillIn(answerOf([], { a: sampleEndpoint() }), known)
  expect(stillKnown(known, 30_999)).toBe(known)
  expect(stillKnown(known, 31_000)).toEqual(knowNothing(31_000))
})
