/**
 * How an operational event is handled. Each one is counted in `outhook_operational_events_total`, and
 * Slack gets a sentence of its own. `tests/project/operational_events.test.ts` compares this table
 * with the schema, the pages, the texts for Slack, the alerts of `ops-alerts` and the alert rules.
 */
export type OperationalEvent = {
  type: string
  /** As in the table of docs/delivery.md. */
  meaning: string
  /**
   * What `ops-alerts` tells PagerDuty and New Relic: an alert of this severity, the end of an alert,
   * or nothing, if nobody has to act.
   */
  alert: 'critical' | 'error' | 'warning' | 'info' | 'resolve' | 'nothing'
  /** The alert rule for Prometheus about the same problem; null if there is no problem to report. */
  rule: string | null
}

export const operationalEvents: readonly OperationalEvent[] = [
  {
    type: 'outhook.delivery.dead_lettered',
    meaning: 'A delivery became a dead letter',
    alert: 'error',
    rule: 'OuthookDeadLetters',
  },
  {
    type: 'outhook.dead_letters.cleared',
    meaning: 'The last waiting dead letter of an endpoint was replayed or discarded',
    alert: 'resolve',
    rule: null,
  },
  {
    type: 'outhook.consumer.dead_lettered',
    meaning: 'A consumer moved a message to its dead-letter topic or queue',
    alert: 'error',
    rule: 'OuthookConsumerDeadLetters',
  },
  {
    type: 'outhook.breaker.opened',
    meaning: 'An endpoint keeps failing and gets only probes',
    alert: 'warning',
    rule: 'OuthookBreakerOpen',
  },
  {
    type: 'outhook.breaker.closed',
    meaning: 'The endpoint responds again',
    alert: 'resolve',
    rule: null,
  },
  {
    type: 'outhook.endpoint.disabled',
    meaning: 'An endpoint was disabled, and its deliveries are held',
    alert: 'critical',
    rule: 'OuthookEndpointDisabled',
  },
  {
    type: 'outhook.endpoint.held',
    meaning: 'Vault cannot return a secret, a header or a credential of an endpoint',
    alert: 'critical',
    rule: 'OuthookSecretUnreadable',
  },
  {
    type: 'outhook.endpoint.released',
    meaning: 'The endpoint was resumed after that',
    alert: 'resolve',
    rule: null,
  },
  {
    type: 'outhook.channel.held',
    meaning: 'WhatsApp refuses a number or its token',
    alert: 'critical',
    rule: 'OuthookWhatsAppHeld',
  },
  {
    type: 'outhook.channel.resumed',
    meaning: 'The number may send again',
    alert: 'resolve',
    rule: null,
  },
  {
    type: 'outhook.template.held',
    meaning: 'WhatsApp paused or disabled a template',
    alert: 'error',
    rule: 'OuthookTemplateHeld',
  },
  {
    type: 'outhook.template.resumed',
    meaning: 'The template may be sent again',
    alert: 'resolve',
    rule: null,
  },
  {
    type: 'outhook.whatsapp.notice',
    meaning: 'WhatsApp has written about an account or a number',
    alert: 'nothing',
    rule: null,
  },
  {
    type: 'outhook.database.changed',
    meaning: 'The same project continues in [another database](copies.md)',
    alert: 'info',
    rule: null,
  },
]
