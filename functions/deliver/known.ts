import type { DispatchAnswer, Endpoint } from '../_shared/contract/contract.ts'

/** `build_parcel()` in sql/engine/claim/batch.sql reckons with a minute at most. */
const keptMs = 30_000
/** Each call names them all: 80 bytes each. */
const capacity = 1000

/**
 * Endpoints that were told since some time, and need not be told again unless they changed. Never
 * changed itself: an answer is filled in from what its own call named, whatever came meanwhile.
 */
export type Known = {
  readonly since: number
  readonly revisions: Readonly<Record<string, string>>
  readonly endpoints: Readonly<Record<string, Endpoint>>
}

/** What a run knows that has been told nothing. */
export function knowNothing(now: number): Known {
  return { since: now, revisions: {}, endpoints: {} }
}

/** What a run still goes by at `now`: all is asked for anew after 30 s. */
export function stillKnown(known: Known, now: number): Known {
  return now - known.since < keptMs ? known : knowNothing(now)
}

/** What is known once an answer has come; of a thousand endpoints at most. */
export function learn(known: Known, { endpoints }: DispatchAnswer): Known {
  const told = Object.entries(endpoints)
  if (told.length === 0) return known
  const [revisions, all] = [{ ...known.revisions }, { ...known.endpoints }]
  let free = capacity - Object.keys(revisions).length
  for (const [id, endpoint] of told) {
    if (!(id in revisions) && free-- <= 0) continue
    revisions[id] = endpoint.revision
    all[id] = endpoint
  }
  return { since: known.since, revisions, endpoints: all }
}

/** An answer with the endpoints that it left out because its call named them. */
export function fillIn(answer: DispatchAnswer, known: Known): DispatchAnswer {
  const endpoints = { ...answer.endpoints }
  for (const { endpoint: id } of answer.deliveries) {
    const endpoint = known.endpoints[id]
    if (!(id in endpoints) && endpoint !== undefined) endpoints[id] = endpoint
  }
  return { ...answer, endpoints }
}
