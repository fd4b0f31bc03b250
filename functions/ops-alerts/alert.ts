/** What a person on call is to know of, or that it is over. */
export type Alert = {
  /** The same for the same trouble: what opens an incident once, and closes it. */
  key: string
  action: 'trigger' | 'resolve'
  severity: 'critical' | 'error' | 'warning' | 'info'
  summary: string
  /** What is in trouble: an endpoint, or the name of the alert. */
  source: string
  /** ISO 8601. */
  at: string
  details: Record<string, string | number | boolean>
}

/** Members that a list of details may hold: text, numbers and booleans. */
export function detailsOf(fields: Record<string, unknown>): Alert['details'] {
  const details: Alert['details'] = {}
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') details[name] = value.slice(0, 500)
    if (typeof value === 'number' || typeof value === 'boolean') details[name] = value
  }
  return details
}
