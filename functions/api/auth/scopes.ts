/** Each right of a token with what it allows. The name is `resource:action`. */
export const scopes = {
  'endpoints:read': 'lists and reads endpoints, their statistics and their retry policies',
  'endpoints:write': 'creates, changes, pauses, resumes, tests and deletes endpoints',
  'secrets:read': "reads an endpoint's signing secrets",
  'secrets:write': "rotates an endpoint's signing secret, and expires a replaced one",
  'events:read': 'lists and reads events with their payloads',
  'events:publish': 'publishes events',
  'event-types:read': 'lists and reads the event types of the catalogue',
  'event-types:write': 'creates, changes and deletes event types; makes the catalogue strict',
  'deliveries:read': 'lists and reads deliveries, attempts, dead letters and replay jobs',
  'deliveries:replay': 'retries and replays deliveries and dead letters, also by replay jobs',
  'deliveries:cancel': 'cancels deliveries and discards dead letters',
  'messages:read': 'lists and reads messages, activity, templates and channels',
  'messages:send': 'sends, resends and cancels messages',
  'templates:write': 'creates, changes and deletes templates',
  'channels:write': 'changes, checks, resumes and deletes channels',
  'consents:read': 'lists consents, opt-outs and people',
  'consents:write': 'records consents, adds and removes opt-outs, and parts people',
  'audit:read': 'lists the audit trail, and the changes of event types',
  'sagas:execute': 'executes the sagas that tokens may execute',
  'sagas:read': 'lists and reads sagas, and the logs of their executions',
  'portal-tokens:write': 'creates and revokes portal tokens',
  'health:read': 'reads the health of the outbox',
  'settings:read': 'reads the settings that an organisation may have for itself',
} as const

export type Scope = keyof typeof scopes

// SAFETY: the keys of the table above are its type's keys.
export const allScopes = Object.keys(scopes) as Scope[]

/** What a page for a customer needs, and the default of a portal token. */
export const customerPage: readonly Scope[] = [
  'endpoints:read',
  'endpoints:write',
  'secrets:read',
  'secrets:write',
  'events:read',
  'event-types:read',
  'deliveries:read',
  'deliveries:replay',
]

/** Names for several scopes, for `app_metadata.outhook_scopes` of users. */
export const scopeSets: Readonly<Record<string, readonly Scope[]>> = {
  'customer-page': customerPage,
  'all': allScopes,
}

export function isScope(value: unknown): value is Scope {
  return typeof value === 'string' && Object.hasOwn(scopes, value)
}

/**
 * The scopes that a list of scopes and sets names, such as `['customer-page', 'messages:read']`.
 *
 * @returns the scopes, or the first element that is neither a scope nor a set
 */
export function readScopes(
  names: readonly unknown[],
): { scopes: ReadonlySet<Scope> } | { scopes: null; unknown: string } {
  const found = new Set<Scope>()
  for (const name of names) {
    if (isScope(name)) found.add(name)
    else if (typeof name === 'string' && Object.hasOwn(scopeSets, name)) {
      for (const scope of scopeSets[name] ?? []) found.add(scope)
    } else return { scopes: null, unknown: describe(name) }
  }
  return { scopes: found }
}

/** String() throws for an object with a member `toString`, and for a list of many levels. */
function describe(name: unknown): string {
  if (typeof name === 'string') return name.slice(0, 100)
  return typeof name === 'object' && name !== null ? '(not a text)' : String(name)
}
