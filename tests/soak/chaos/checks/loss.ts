import { byDelivery, type Evidence, type Violation } from '../evidence.ts'
import { type Arrival, isWanted, type Ledger, type Publication, type Target } from '../ledger.ts'

/** Nothing lost: each committed event was answered with 2xx by each endpoint that wants it, or ended with a reason. */
export function findLosses({ ledger, deliveries, receipts }: Evidence): Violation[] {
  const ids = idsOf(ledger)
  const answered = new Set(
    ledger.arrivals.filter(({ status }) => isGood(status)).map(({ endpoint, ref }) =>
      `${endpoint} ${ref}`
    ),
  )
  const ends = byDelivery(receipts.filter(({ kind }) => kind === 'close'))
  const rows = byDelivery(deliveries)
  const endedOtherwise = (id: string | undefined, target: Target): boolean =>
    id !== undefined && ends.has(`${id} ${target.id}`)
  const lost: Violation[] = []
  for (const event of ledger.publications) {
    if (event.fate !== 'committed') continue
    for (const target of ledger.targets) {
      if (isWanted(target, event, ledger.clockMoves) !== 'yes') continue
      const id = ids.get(event.ref)
      const here = `${event.ref} (${event.type}, ${id ?? 'never arrived'}) for ${target.name}`
      if (!answered.has(`${target.name} ${event.ref}`) && !endedOtherwise(id, target)) {
        lost.push({ promise: 'loss', what: `${here} was committed and not delivered` })
      }
      const count = id === undefined ? 0 : rows.get(`${id} ${target.id}`)?.length ?? 0
      if (id !== undefined && count !== 1) {
        lost.push({ promise: 'views', what: `${here} has ${count} rows in delivery_status` })
      }
    }
  }
  return [...lost, ...findUnreceived(rows, ledger.targets, ids, answered)]
}

/** Nothing counts as delivered that no receiver has answered with 2xx. */
function findUnreceived(
  rows: ReturnType<typeof byDelivery<Evidence['deliveries'][number]>>,
  targets: readonly Target[],
  ids: ReadonlyMap<string, string>,
  answered: ReadonlySet<string>,
): Violation[] {
  const refs = new Map([...ids].map(([ref, id]) => [id, ref]))
  const names = new Map(targets.map(({ id, name }) => [id, name]))
  return [...rows.values()].flat().flatMap(({ event_id, endpoint_id, status }): Violation[] => {
    const name = names.get(endpoint_id ?? '')
    if (status !== 'delivered' || name === undefined) return []
    if (answered.has(`${name} ${refs.get(event_id)}`)) return []
    const what = `${event_id} counts as delivered, and ${name} has not answered it with 2xx`
    return [{ promise: 'loss', what }]
  })
}

/** Nothing invented: what arrives was committed, is wanted, and has the same id each time. */
export function findInventions({ ledger }: Evidence): Violation[] {
  const events = new Map(ledger.publications.map((event) => [event.ref, event]))
  const targets = new Map(ledger.targets.map((target) => [target.name, target]))
  const ids = idsOf(ledger)
  return ledger.arrivals.flatMap((arrival): Violation[] => {
    const problem =
      problemOf(arrival, events.get(arrival.ref), targets.get(arrival.endpoint), ledger) ??
        (ids.get(arrival.ref) === arrival.id ? null : 'arrived under two ids')
    if (problem === null) return []
    return [{ promise: 'invention', what: `${arrival.ref} at ${arrival.endpoint} ${problem}` }]
  })
}

function problemOf(
  { at }: Arrival,
  event: Publication | undefined,
  target: Target | undefined,
  { clockMoves }: Ledger,
): string | null {
  if (event === undefined || target === undefined) return 'was never published'
  if (event.fate === 'rolled_back') return 'was rolled back'
  if (at < event.began) return 'arrived before it was published'
  return isWanted(target, event, clockMoves) === 'no' ? 'is not wanted there' : null
}

/** The id of each event: that which its publisher got, else that under which it arrived first. */
function idsOf({ publications, arrivals }: Ledger): Map<string, string> {
  const ids = new Map<string, string>()
  for (const { ref, id } of publications) if (id !== null) ids.set(ref, id)
  for (const { ref, id } of arrivals) if (!ids.has(ref)) ids.set(ref, id)
  return ids
}

/** Whether it is 2xx. */
export function isGood(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}
