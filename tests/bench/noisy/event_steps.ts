/** Events of the noisy organisation, their schemas, sagas, and lists of them. */

import type { Calls, Steps } from './calls.ts'

/** About 220 KB whose every element each filter looks at. */
const items = Array.from({ length: 4_000 }, (_, n) => ({ a: n, b: n, c: n, d: `${n}`.repeat(4) }))
/** Each has a key of its own, and so a lane of its own at each ordered endpoint. */
const small = Array.from({ length: 1_000 }, (_, n) => ({ type: 'noise.small', payload: { n } }))
const schema = { properties: { items: { items: { anyOf: [...Array(100).keys()].map(isA) } } } }
/** As many characters as a schema may have, nearly. */
const largest = { enum: Array.from({ length: 5_000 }, (_, n) => `text ${n}`) }
/** A context of nearly 256 KiB, which each step of a saga gets. */
const note = 'x'.repeat(255_000)

function isA(a: number): unknown {
  return { properties: { a: { const: a } }, required: ['a'] }
}

let batches = 0
/** Of a new purchase: each has a number of its own, also after another process of the noise. */
let order = Date.now() * 1_000

function keyed(n: number): unknown[] {
  return small.map((one, at) => ({ ...one, correlationId: 'noise', partitionKey: `${n}-${at}` }))
}

export function eventSteps(
  { call }: Calls,
): Steps<'big' | 'batch' | 'small' | 'schema' | 'type' | 'saga' | 'events' | 'search'> {
  /** The largest schema again and again, and a catalogue that stays open. */
  async function type(): Promise<void> {
    await call('POST', '/event-types', { type: 'noise.other', schema: largest })
    await call('DELETE', '/event-types/noise.other')
    await call('PUT', '/event-catalogue', { strict: false })
  }

  return {
    big: () => call('POST', '/events', { type: 'noise.big', payload: { items } }),
    batch: () => call('POST', '/events/batch', { events: keyed(batches++) }),
    small: () => call('POST', '/events', { type: 'noise.small', payload: {} }),
    schema: () => call('PUT', '/event-types/noise.big', { schema }),
    type,
    saga: () =>
      call('POST', '/sagas/place_order', {
        order: order++,
        customer: 'ada',
        item: 'lamp',
        quantity: 1,
        note,
      }),
    events: () => call('GET', '/events?type=noise.none&limit=100'),
    search: () => call('GET', '/search?correlationId=noise'),
  }
}
