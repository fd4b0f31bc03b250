import type { Endpoint, Event, Model } from './model.ts'
import type { Seen } from './trace.ts'

/** Makes the deliveries of every event that left the unrouted ones in this step, in the order of ids. */
export function routeLeft(model: Model, seen: Seen): void {
  const still = new Set(seen.unrouted)
  const left = [...model.unrouted].filter((id) => !still.has(id)).sort()
  model.expect(
    model.cutBatches
      ? left.length > 0 || model.unrouted.size === 0
      : left.length === model.unrouted.size,
    `routed ${left.length} of ${model.unrouted.size} events`,
  )
  for (const id of left) {
    model.unrouted.delete(id)
    const event = model.events.get(id)
    if (event === undefined) continue
    const targets = [...model.endpoints.values()].filter((endpoint) => wants(endpoint, event, seen))
    for (const endpoint of targets) addPair(model, event, endpoint)
    if (targets.length === 0) model.attempts.push(`${id} 0 close no_subscriber`)
  }
}

/** By the subscriptions of the event's time: an endpoint may have been deleted since. */
function wants(endpoint: Endpoint, event: Event, seen: Seen): boolean {
  if (event.endpoint !== null) return event.endpoint === endpoint.id
  if (!matches(endpoint, event.org, event.type)) return false
  if (endpoint.deletedAt === null) return true
  const isRouted = seen.attempts.some((row) =>
    row.event === event.id && row.endpoint === endpoint.id && row.outcome === 'cancelled'
  )
  // The clock was set back: the ended subscription has it, unless it is no longer kept.
  if (endpoint.deletedBefore.has(event.id)) return event.at < endpoint.deletedAt && isRouted
  // After a clock that was set back, the subscription may have ended later than by the clock.
  return event.at < endpoint.deletedAt || isRouted
}

/** Whether an endpoint gets the events of a type that name no endpoint. */
export function subscribes(endpoint: Endpoint, org: string, type: string): boolean {
  return endpoint.status !== 'deleted' && matches(endpoint, org, type)
}

function matches({ spec }: Endpoint, org: string, type: string): boolean {
  if (spec.org !== org) return false
  return spec.patterns.some((pattern) =>
    pattern === '*' || pattern === type ||
    (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))
  )
}

function addPair(model: Model, event: Event, endpoint: Endpoint): void {
  const name = `${event.id} ${endpoint.id}`
  model.expect(!model.pairs.has(name), `${name} was routed twice`)
  const lane = model.laneOf(endpoint, event.key)
  const pair = {
    name,
    event,
    endpoint,
    open: true,
    attempt: 0,
    failed_attempts: 0,
    lost: 0,
    lostBefore: 0,
    holds: 0,
    lease: null,
    // An order of its own and deliver_at exclude each other.
    due: lane === null ? event.deliverAt : 0,
    lane,
    replayedAt: -Infinity,
    ended: null,
    sent: false,
  }
  model.pairs.set(name, pair)
  if (endpoint.status === 'deleted') model.close(pair, 'close', 'cancelled')
  else lane?.queue.push(pair)
}
