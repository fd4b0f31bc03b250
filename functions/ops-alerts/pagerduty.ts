import type { Alert } from './alert.ts'

/** The Events API; EU accounts: https://events.eu.pagerduty.com. */
export const pagerDutyUrl = 'https://events.pagerduty.com'

/** The body of `POST /v2/enqueue`: https://developer.pagerduty.com/docs/send-alert-event. */
export function pagerDutyEvent(alert: Alert, routingKey: string): Record<string, unknown> {
  return {
    routing_key: routingKey,
    event_action: alert.action,
    dedup_key: alert.key.slice(0, 255),
    ...alert.action === 'resolve' ? {} : {
      payload: {
        summary: alert.summary.slice(0, 1024),
        source: alert.source,
        severity: alert.severity,
        timestamp: alert.at,
        component: 'outhook',
        custom_details: alert.details,
      },
      client: 'Outhook',
    },
  }
}
