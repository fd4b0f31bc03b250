/** What all databases say together: events have an id of their own in each, and here that of the source. */

import { homeOf } from '../../../package/command/spread_org/plan.ts'
import { findDuplicates, findSharedLeases } from '../chaos/checks/duplicates.ts'
import { findDeaths, findMiscounts, findStuck, findUnreasoned } from '../chaos/checks/ends.ts'
import { findInventions, findLosses } from '../chaos/checks/loss.ts'
import { findDisorder } from '../chaos/checks/order.ts'
import type { Evidence, Violation } from '../chaos/evidence.ts'
import { observeServer, type Said } from '../chaos/observe.ts'
import type { Database, SpreadWorld } from './world.ts'

/** What one database says. */
interface Told {
  name: string
  said: Said
  /** The ids of the source by those of this database. */
  keys: ReadonlyMap<string, string>
  /** The endpoints that are here, and whether they are enabled. */
  here: ReadonlyMap<string, boolean>
}

/** All broken promises, once nothing is on its way. `active`: the databases in which endpoints belong. */
export async function checkSpread(
  world: SpreadWorld,
  active: readonly string[],
): Promise<{ evidence: Evidence; violations: Violation[] }> {
  const { ledger, source, targets, broker, consumers } = world
  const told = await Promise.all(
    [...targets.values()].map((database) => tell(database, ledger.targets)),
  )
  const [first] = told
  if (first === undefined) throw new Error('no databases')
  const died = [source, ...targets.values()].flatMap(({ workers }) => workers.died)
  const evidence = { ledger, died: [...died, ...consumers.died], ...merge(told, first.said) }
  const own = { ...await observeServer(source.server, [{ id: broker }]), ledger, died: [] }
  const checks = [
    findLosses,
    findInventions,
    findDisorder,
    findDuplicates,
    findSharedLeases,
    findUnreasoned,
    findDeaths,
  ]
  return {
    evidence,
    violations: [
      ...checks.flatMap((find) => find(evidence)),
      ...[own, ...told.map(({ said }) => ({ ...said, ledger, died: [] }))]
        .flatMap((one) => [...findStuck(one), ...findMiscounts(one)]),
      ...own.letters.map(({ event_id, error }): Violation => ({
        promise: 'loss',
        what: `${event_id} is a dead letter of the source: ${error}`,
      })),
      ...told.flatMap(takenTwice),
      ...findStrays(told, active),
    ],
  }
}

async function tell(
  { name, server }: Database,
  endpoints: readonly { id: string }[],
): Promise<Told> {
  const keys = new Map<string, string>()
  const here = new Map<string, boolean>()
  await server.surely('reading ids', async (sql) => {
    const events = await sql<{ id: string; key: string }[]>`
      select e.id, e.idempotency_key as key from outbox.event e where e.idempotency_key is not null`
    for (const { id, key } of events) keys.set(id, key)
    const rows = await sql<{ id: string; status: string }[]>`
      select e.id, e.status from outbox.endpoint e where e.status <> 'deleted'`
    for (const { id, status } of rows) here.set(id, status === 'enabled')
  })
  return { name, said: await observeServer(server, endpoints), keys, here }
}

/**
 * Nobody cancels anything here but a database that an endpoint has left. It counts for nothing, so what it has
 * cancelled must have been delivered by another one.
 */
function merge(told: readonly Told[], { views }: Said): Said {
  const withKeys = <T extends { event_id: string }>(rows: (said: Said) => readonly T[]): T[] =>
    told.flatMap(({ said, keys }) =>
      rows(said).map((row) => ({ ...row, event_id: keys.get(row.event_id) ?? row.event_id }))
    )
  return {
    deliveries: withKeys(({ deliveries }) => deliveries)
      .filter(({ status }) => status !== 'cancelled'),
    receipts: withKeys(({ receipts }) => receipts)
      .filter(({ kind, outcome }) => kind !== 'close' || outcome !== 'cancelled'),
    letters: withKeys(({ letters }) => letters),
    views,
  }
}

/** An event of the source that one database has as two events. */
export function takenTwice({ name, keys }: Pick<Told, 'name' | 'keys'>): Violation[] {
  const ids = Map.groupBy(keys, ([, key]) => key)
  return [...ids].filter(([, all]) => all.length > 1).map(([key, all]) => ({
    promise: 'duplicate',
    what: `${name} has taken ${key} ${all.length} times`,
  }))
}

/** Each endpoint is enabled in the database of its hash, and in no other one. */
export function findStrays(
  told: readonly Pick<Told, 'name' | 'here'>[],
  active: readonly string[],
): Violation[] {
  const ids = new Set(told.flatMap(({ here }) => [...here.keys()]))
  return [...ids].flatMap((id): Violation[] => {
    const home = homeOf(active, id)
    const places = told.filter(({ here }) => here.has(id))
    const isHome = places.length === 1 && places[0]?.name === home && places[0].here.get(id)
    if (isHome) return []
    const where = places.map(({ name, here }) => `${name}${here.get(id) ? '' : ' (not enabled)'}`)
    return [{ promise: 'stuck', what: `${id} belongs in ${home}, and is in ${where.join(', ')}` }]
  })
}
