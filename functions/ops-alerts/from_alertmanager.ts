import * as z from 'zod'
import { type Alert, detailsOf } from './alert.ts'

/** https://prometheus.io/docs/alerting/latest/configuration/#webhook_config, version 4. */
const notification = z.object({
  version: z.literal('4'),
  alerts: z.array(z.object({
    status: z.enum(['firing', 'resolved']),
    labels: z.record(z.string(), z.string()),
    annotations: z.record(z.string(), z.string()),
    startsAt: z.string(),
    endsAt: z.string(),
    fingerprint: z.string(),
  })),
})

/** The alerts in a webhook of Alertmanager. Throws if the body is not valid. */
export function alertsOfAlertmanager(body: string): Alert[] {
  return notification.parse(JSON.parse(body)).alerts.map((alert) => {
    const { status, labels, annotations, startsAt, endsAt, fingerprint } = alert
    const isOver = status === 'resolved'
    const name = labels.alertname ?? 'alert'
    return {
      key: `alertmanager:${fingerprint}`,
      action: isOver ? 'resolve' : 'trigger',
      severity: labels.severity === 'page' ? 'critical' : 'warning',
      summary: annotations.summary ?? name,
      source: name,
      at: isOver ? endsAt : startsAt,
      details: detailsOf({ ...labels, ...annotations }),
    }
  })
}
