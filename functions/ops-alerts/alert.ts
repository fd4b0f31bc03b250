/** An alert for the operator on call, or its resolution. */
export type Alert = {
  /** The same for the same problem: it opens an incident once, and closes it. */
  key: string
  action: 'trigger' | 'resolve'
  severity: 'critical' | 'error' | 'warning' | 'info'
  summary: string
  /** What is affected, such as the endpoint's id, or the name of the alert. Not empty. */
  source: string
  /** ISO 8601. */
  at: string
  details: Record<string, string | number | boolean>
}

/** The members that alert details support: text (cut to 500 characters), numbers and booleans. */
export function detailsOf(fields: Record<string, unknown>): Alert['details'] {
  const details: Alert['details'] = {}
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') details[name] = value.slice(0, 500)
    if (typeof value === 'number' || typeof value === 'boolean') details[name] = value
  }
  return details
}
