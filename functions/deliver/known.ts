import type { DispatchAnswer, Endpoint } from '../_shared/contracts.ts'

/** `batch()` in sql/70_dispatch.sql reckons with a minute at most. */
const keptMs = 30_000
/** Each call names them all: 80 bytes each. */
const capacity = 1000

/** Endpoints that were told since some time, and need not be told again unless they changed. */
export type Known = {
  readonly since: number
  readonly revisions: Record<string, string>
  readonly endpoints: Record<string, Endpoint>
}

/** What a run knows that has been told nothing. */
export function knowNothing(now: number): Known {
  return { since: now, revisions: {}, endpoints: {} }
}

/** What a run still goes by at `now`: all is asked for anew after 30 s. */
export function stillKnown(known: Known, now: number): Known {
  return now - known.since < keptMs ? known : knowNothing(now)
}

/** Notes the endpoints of an answer, and gives its deliveries those that `known` made it leave out. */
export function fillIn(answer: DispatchAnswer, known: Known): DispatchAnswer {
  let free = capacity - Object.keys(known.revisions).length
  for (const [id, endpoint] of Object.entries(answer.endpoints)) {
    if (!(id in known.revisions) && free-- <= 0) continue
    known.revisions[id] = endpoint.revision
    known.endpoints[id] = endpoint
  }
  const endpoints = { ...answer.endpoints }
  for (const { endpoint: id } of answer.deliveries) {
    const endpoint = known.endpoints[id]
    if (!(id in endpoints) && endpoint !== undefined) endpoints[id] = endpoint
  }
  return { ...answer, endpoints }
}
