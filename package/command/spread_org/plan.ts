import { databaseByHash } from '../../../consumer/into/routes.ts'

/** What one database has of the organisation, as the SQL function spread_status returns it. */
export interface PlaceStatus {
  /** Tells databases apart. */
  server: string
  version: string
  /** Why no endpoint can leave or reach it now, as sentences. */
  blockers: string[]
  endpoints: {
    id: string
    /** The database from which it moves here and which may still have it; null: it is here. */
    from: string | null
    /** Why it cannot move, as the end of a sentence; null: it can. */
    why: string | null
  }[]
}

/** An endpoint that changes its database. */
export interface Move {
  id: string
  from: string
  to: string
}

/** What has to be done with the endpoints of an organisation. */
export interface Plan {
  /** Which leave the database they are in. */
  moves: Move[]
  /** Which an earlier run has copied and not opened. Those that have not left are in another list, too. */
  arrivals: Move[]
  /** Which belong elsewhere and cannot move now, as `eu-1: <id> has open deliveries: 3`. */
  staying: string[]
  /** How many are where they belong. */
  atHome: number
}

/** The database of an endpoint. `names`: those that have endpoints of the organisation, at least one. */
export function homeOf(names: readonly string[], endpointId: string): string {
  return databaseByHash(names, endpointId)
}

/** Compares where the endpoints are with where they belong. `names`: see homeOf. */
export function planMoves(
  places: ReadonlyMap<string, PlaceStatus>,
  names: readonly string[],
): Plan {
  const plan: Plan = { moves: [], arrivals: [], staying: [], atHome: 0 }
  for (const [name, { endpoints }] of places) {
    for (const { id, from, why } of endpoints) {
      const to = homeOf(names, id)
      if (from !== null) plan.arrivals.push({ id, from, to: name })
      else if (to === name) plan.atHome++
      else if (why !== null) plan.staying.push(`${name}: ${id} ${why}`)
      else plan.moves.push({ id, from: name, to })
    }
  }
  return plan
}

/** Why nothing can be moved between these databases; empty: something can. */
export function whyNoSpread(
  places: ReadonlyMap<string, PlaceStatus>,
  { moves, arrivals }: Pick<Plan, 'moves' | 'arrivals'>,
): string[] {
  const reasons: string[] = []
  const servers = new Map<string, string>()
  const versions = new Set<string>()
  const owners = new Map<string, string>()
  for (const [name, { server, version, endpoints }] of places) {
    const same = servers.get(server)
    if (same !== undefined) reasons.push(`${same} and ${name} are the same database`)
    servers.set(server, name)
    versions.add(version)
    for (const { id, from } of endpoints) {
      if (from !== null) continue
      const owner = owners.get(id)
      if (owner !== undefined) reasons.push(`${owner} and ${name} both have endpoint ${id}`)
      owners.set(id, name)
    }
  }
  if (versions.size > 1) {
    reasons.push(`The databases have different versions of Outhook: ${[...versions].join(', ')}`)
  }
  for (const { id, from, to } of arrivals) {
    if (!places.has(from)) {
      reasons.push(`Endpoint ${id} moves from ${from} to ${to}: give ${from}, too`)
    }
  }
  const taking = new Set(moves.flatMap(({ from, to }) => [from, to]))
  for (const name of taking) {
    for (const blocker of places.get(name)?.blockers ?? []) reasons.push(`${name}: ${blocker}`)
  }
  return reasons
}

/** Publishers wait while a batch moves. */
const mostOfBatch = 20

/** The endpoints of a batch have the same two databases. */
export function batchesOf(moves: readonly Move[]): Move[][] {
  const batches: Move[][] = []
  // The last batch of each pair of databases.
  const open = new Map<string, Move[]>()
  for (const move of moves) {
    const pair = `${move.from} ${move.to}`
    const last = open.get(pair)
    if (last !== undefined && last.length < mostOfBatch) last.push(move)
    else {
      const batch = [move]
      open.set(pair, batch)
      batches.push(batch)
    }
  }
  return batches
}
