import type { Scope } from './scopes.ts'

/** The objects that a portal token is limited to; null: no limit of this kind. */
export type TokenLimits = {
  /** UUIDs. */
  endpointIds: readonly string[] | null
  /** Event types and prefixes such as `order.*`, in the form of a subscription. */
  eventTypes: readonly string[] | null
}

/** The scopes whose routes name an endpoint or an event type, so that a limit can be checked. */
const limitable: ReadonlySet<Scope> = new Set<Scope>([
  'endpoints:read',
  'endpoints:write',
  'secrets:read',
  'secrets:write',
  'events:read',
  'event-types:read',
  'deliveries:read',
  'deliveries:replay',
  'deliveries:cancel',
])

/** Whether a token with these limits may have a scope. An event belongs to no single endpoint. */
export function canLimit(scope: Scope, { endpointIds }: TokenLimits): boolean {
  return limitable.has(scope) && !(endpointIds !== null && scope === 'events:read')
}

/** Whether the limits include an endpoint. */
export function includesEndpoint({ endpointIds }: TokenLimits, id: string | null): boolean {
  return endpointIds === null ||
    id !== null && endpointIds.some((one) => one.toLowerCase() === id.toLowerCase())
}

/**
 * Whether the limits include every event type that a pattern matches: `order.*` includes
 * `order.paid`, `order.item.added` and `order.item.*`.
 */
export function includesType({ eventTypes }: TokenLimits, pattern: string | null): boolean {
  return eventTypes === null ||
    pattern !== null && eventTypes.some((limit) =>
        limit === '*' || limit === pattern ||
        limit.endsWith('.*') && pattern.startsWith(limit.slice(0, -1))
      )
}
