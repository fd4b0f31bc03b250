import type { Evidence, Letter, Receipt } from '../../soak/chaos/evidence.ts'
import { type Arrival, Ledger, type Publication } from '../../soak/chaos/ledger.ts'

/** All types of the sample. */
export const all = ['chaos.a', 'chaos.b']

/** The ids of the sample's endpoints: one in order, and one without an order that refuses 0:2. */
export const ids = { ordered: 'endpoint-1', picky: 'endpoint-2' } as const

/** What is seen of three events that two endpoints get, if every promise holds. */
export function soundEvidence(): Evidence {
  const ledger = new Ledger()
  for (const [name, id] of Object.entries(ids)) {
    const wishes = [{ types: all, began: 0, ended: 1, certain: true }]
    ledger.targets.push({ name, id, ordered: name === 'ordered', wishes })
  }
  const events = [0, 1, 2].map(publication)
  ledger.publications.push(...events, { ...publication(3), fate: 'maybe' })
  ledger.publications.push({ ...publication(4), id: null, fate: 'rolled_back' })
  const receipts: Receipt[] = []
  for (const event of events) {
    for (const name of ['ordered', 'picky'] as const) {
      const isRefused = name === 'picky' && event.n === 2
      ledger.arrivals.push(arrival(event, name, isRefused ? 422 : 200))
      receipts.push(receipt(event, name, isRefused ? 'failed' : 'delivered'))
    }
  }
  receipts.push({ ...receipt(publication(2), 'picky', 'dead_letter'), kind: 'close' })
  return {
    ledger,
    receipts,
    deliveries: events.flatMap(({ id, n }) =>
      Object.values(ids).map((endpoint_id) => ({
        event_id: id ?? '',
        endpoint_id,
        status: n === 2 && endpoint_id === ids.picky ? 'dead_letter' : 'delivered',
        held_because: null,
        open: false,
      }))
    ),
    letters: [letter()],
    views: {
      open: 0,
      in_flight: 0,
      unrouted: 0,
      unroutable: 0,
      set_aside: 0,
      dead_letters: 1,
      endpoints: Object.values(ids).map((id) => ({ id, open: 0, in_flight: 0 })),
      counted: { delivered: 5, failed: 1 },
      miscounted: [],
    },
    died: [],
  }
}

/** The nth event, which is published at 1000 n. */
export function publication(n: number): Publication {
  return {
    ref: `0:${n}`,
    id: `event-${n}`,
    publisher: 0,
    n,
    type: 'chaos.a',
    key: 'key',
    fate: 'committed',
    began: 1_000 * n + 100,
    ended: 1_000 * n + 110,
  }
}

/** Its request, 100 ms after its publication. */
export function arrival(
  { ref, id, ended }: Publication,
  endpoint: keyof typeof ids,
  status: number | null,
): Arrival {
  const at = ended + 100
  const answeredAt = status === null ? null : at + 10
  return { endpoint, ref, id: id ?? '', attempt: 1, at, answeredAt, status }
}

/** The receipt of its first attempt. */
export function receipt(
  { id, ended }: Publication,
  endpoint: keyof typeof ids,
  outcome: string,
): Receipt {
  const error_class = outcome === 'failed' ? 'http' : null
  const about = { event_id: id ?? '', endpoint_id: ids[endpoint], attempt: 1, at: ended + 120 }
  return { ...about, kind: 'attempt', outcome, error_class, resent: null }
}

/** The dead letter of the sample. */
export function letter(): Letter {
  return { event_id: 'event-2', endpoint_id: ids.picky, why: 'rejected', error: 'HTTP 422' }
}
