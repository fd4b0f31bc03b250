import type { Alert } from './alert.ts'

/** The Event API; EU accounts: https://insights-collector.eu01.nr-data.net. */
export const newRelicUrl = 'https://insights-collector.newrelic.com'

/**
 * One event for `POST /v1/accounts/<id>/events`; the API requires flat objects:
 * https://docs.newrelic.com/docs/data-apis/ingest-apis/event-api/introduction-event-api/.
 */
export function newRelicEvent(alert: Alert): Record<string, string | number | boolean> {
  const details = Object.entries(alert.details).map(([name, value]) => [`detail.${name}`, value])
  return {
    ...Object.fromEntries(details),
    eventType: 'OuthookAlert',
    timestamp: Date.parse(alert.at),
    key: alert.key,
    action: alert.action,
    severity: alert.severity,
    summary: alert.summary.slice(0, 1024),
    source: alert.source,
  }
}
