/**
 * The list of the attempts that the overview has counted: those of its span; if there were more than it
 * counts, only those since the time from which on it has all.
 */
export function attemptsPath(outcome: string, spanName: string, since: string | null): string {
  const query = new URLSearchParams({ view: 'attempts', outcome, span: spanName })
  if (since !== null) query.set('since', since)
  return `/events?${query}`
}
