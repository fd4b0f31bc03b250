import type { DispatchResponse, Endpoint } from '../_shared/contract/contract.ts'

/** `build_parcel()` in sql/engine/claim/batch.sql assumes at most one minute. */
const keptMs = 30_000
/** Each call names all of them, at 80 bytes each. */
const capacity = 1000

/**
 * Endpoints from earlier responses; the database sends one again only if its revision changed.
 * Immutable, because a response is completed from the cache as it was when the call was made.
 */
export type EndpointCache = {
  readonly since: number
  readonly revisions: Readonly<Record<string, string>>
  readonly endpoints: Readonly<Record<string, Endpoint>>
}

/** An empty cache that starts now. */
export function emptyCache(now: number): EndpointCache {
  return { since: now, revisions: {}, endpoints: {} }
}

/** The cache, or an empty one if it is older than 30 s. */
export function unlessExpired(known: EndpointCache, now: number): EndpointCache {
  return now - known.since < keptMs ? known : emptyCache(now)
}

/** The cache with the endpoints of a response; at most 1000. */
export function withEndpoints(
  known: EndpointCache,
  { endpoints }: DispatchResponse,
): EndpointCache {
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

/** A response with the endpoints that the database left out because the call named them. */
export function addCached(response: DispatchResponse, known: EndpointCache): DispatchResponse {
  const endpoints = { ...response.endpoints }
  for (const { endpoint: id } of response.deliveries) {
    const endpoint = known.endpoints[id]
    if (!(id in endpoints) && endpoint !== undefined) endpoints[id] = endpoint
  }
  return { ...response, endpoints }
}
