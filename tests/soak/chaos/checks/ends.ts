import { byDelivery, type Evidence, type Violation } from '../evidence.ts'
import { isGood } from './loss.ts'

/** So many lost leases in a row end a delivery (`delivery.max_lost_leases`). */
const MOST_LOST = 5

/** Each dead letter has a reason, and what happened before bears it out. */
export function findUnreasoned({ letters, receipts, ledger }: Evidence): Violation[] {
  const attempts = byDelivery(receipts.filter(({ kind }) => kind === 'attempt'))
  const names = new Map(ledger.targets.map(({ id, name }) => [id, name]))
  return letters.flatMap(({ event_id, endpoint_id, why, error }): Violation[] => {
    const name = names.get(endpoint_id)
    if (name === undefined) return []
    const tell = (what: string): Violation[] => [
      { promise: 'letter', what: `the dead letter ${event_id} of ${name} ${what}` },
    ]
    if (why === '' || error === '') return tell('has no reason')
    const own = attempts.get(`${event_id} ${endpoint_id}`) ?? []
    const lost = own.filter(({ error_class }) => error_class === 'lease_expired').length
    if (why === 'leases_lost') {
      return lost >= MOST_LOST ? [] : tell(`lost ${lost} leases, which are not enough`)
    }
    const refused = ledger.arrivals.some(({ endpoint, id, status }) =>
      endpoint === name && id === event_id && status !== null && !isGood(status)
    )
    return refused ? [] : tell(`says ${why}, and no response bears it out`)
  })
}

/** Nothing stuck: with all faults over, all of it ends within the bound. */
export function findStuck({ deliveries, views }: Evidence): Violation[] {
  const open = deliveries.filter((row) => row.open).map((row): Violation => ({
    promise: 'stuck',
    what: `${row.event_id} for ${row.endpoint_id} is ${row.status} (${row.held_because ?? '-'})`,
  }))
  const waiting = (['unrouted', 'unroutable', 'set_aside'] as const)
    .filter((name) => views[name] > 0)
    .map((name): Violation => ({ promise: 'stuck', what: `${name} is ${views[name]}` }))
  return [...open, ...waiting]
}

/** The views equal a recount of the deliveries and dead letters. */
export function findMiscounts({ deliveries, letters, views }: Evidence): Violation[] {
  const found: Violation[] = views.miscounted.map((what) => ({ promise: 'views', what }))
  const compare = (what: string, shown: number, counted: number): void => {
    if (shown === counted) return
    found.push({ promise: 'views', what: `${what} shows ${shown}, and a count gives ${counted}` })
  }
  const open = deliveries.filter((row) => row.open)
  const sent = open.filter(({ status }) => status === 'processing')
  compare('queue_health.open', views.open, open.length)
  compare('queue_health.dead_letters', views.dead_letters, letters.length)
  let inFlight = 0
  for (const endpoint of views.endpoints) {
    const own = open.filter(({ endpoint_id }) => endpoint_id === endpoint.id)
    compare(`endpoint_status.open of ${endpoint.id}`, endpoint.open, own.length)
    const isSent = sent.some(({ endpoint_id }) => endpoint_id === endpoint.id)
    // A lane that is sent in order counts as one request, however many deliveries it has.
    if (!isSent) compare(`endpoint_status.in_flight of ${endpoint.id}`, endpoint.in_flight, 0)
    inFlight += endpoint.in_flight
  }
  compare('queue_health.in_flight', views.in_flight, inFlight)
  return found
}

/** The counters equal a recount of the receipts. What a long transaction counted is added up a minute later. */
export function findUncounted({ receipts, views }: Evidence): Violation[] {
  const shown = views.counted.delivered ?? 0
  const counted =
    receipts.filter(({ kind, endpoint_id, outcome }) =>
      kind === 'attempt' && endpoint_id !== null && outcome === 'delivered'
    ).length
  if (shown === counted) return []
  const what = `the counter of delivered shows ${shown}, and a count gives ${counted}`
  return [{ promise: 'counters', what }]
}

/** No process ends but by the adversary. */
export function findDeaths({ died }: Evidence): Violation[] {
  return died.map((what) => ({ promise: 'process', what }))
}
