import * as z from 'zod'
import { type Alert, detailsOf } from './alert.ts'

const envelope = z.object({
  id: z.string(),
  eventType: z.string(),
  createdAt: z.string(),
  data: z.record(z.string(), z.unknown()),
})

const fieldsOf = z.object({
  endpointId: z.string().default(''),
  orgId: z.string().default(''),
  url: z.string().nullish(),
  reason: z.string().nullish(),
  eventType: z.string().nullish(),
  error: z.string().nullish(),
  templateCode: z.string().nullish(),
  consumer: z.string().nullish(),
  project: z.string().nullish(),
})
type Fields = z.infer<typeof fieldsOf>

type Rule = {
  action: Alert['action']
  severity: Alert['severity']
  /** The first part of the alert's key; the second is `subjectOf` of the event. */
  about: string
  summary(fields: Fields): string
}

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['outhook.delivery.dead_lettered', {
    action: 'trigger',
    severity: 'error',
    about: 'dead-letter',
    summary: (f) => `Dead letter of ${f.orgId}: ${f.eventType ?? '?'}: ${f.error ?? '?'}`,
  }],
  ['outhook.dead_letters.cleared', {
    action: 'resolve',
    severity: 'info',
    about: 'dead-letter',
    summary: (f) => `No dead letter waits: ${f.url ?? f.endpointId} of ${f.orgId}`,
  }],
  ['outhook.breaker.opened', {
    action: 'trigger',
    severity: 'warning',
    about: 'breaker',
    summary: (f) => `Breaker open: ${f.url ?? f.endpointId} of ${f.orgId} keeps failing`,
  }],
  ['outhook.breaker.closed', {
    action: 'resolve',
    severity: 'info',
    about: 'breaker',
    summary: (f) => `Breaker closed: ${f.url ?? f.endpointId} of ${f.orgId} responds again`,
  }],
  ['outhook.endpoint.disabled', {
    action: 'trigger',
    severity: 'critical',
    about: 'endpoint',
    summary: (f) => `Endpoint disabled: ${f.url ?? f.endpointId} of ${f.orgId}: ${f.reason ?? ''}`,
  }],
  ['outhook.endpoint.held', {
    action: 'trigger',
    severity: 'critical',
    about: 'secrets',
    summary: (f) => `Endpoint held: ${f.url ?? f.endpointId} of ${f.orgId}: ${f.reason ?? ''}`,
  }],
  ['outhook.endpoint.released', {
    action: 'resolve',
    severity: 'info',
    about: 'secrets',
    summary: (f) => `Endpoint resumed: ${f.url ?? f.endpointId} of ${f.orgId}`,
  }],
  ['outhook.channel.held', {
    action: 'trigger',
    severity: 'critical',
    about: 'channel',
    summary: (f) => `WhatsApp channel of ${f.orgId} held: ${f.reason ?? ''}`,
  }],
  ['outhook.channel.resumed', {
    action: 'resolve',
    severity: 'info',
    about: 'channel',
    summary: (f) => `WhatsApp channel of ${f.orgId} resumed`,
  }],
  ['outhook.template.held', {
    action: 'trigger',
    severity: 'error',
    about: 'template',
    summary: (f) =>
      `WhatsApp template ${f.templateCode ?? '?'} of ${f.orgId} held: ${f.reason ?? ''}`,
  }],
  ['outhook.template.resumed', {
    action: 'resolve',
    severity: 'info',
    about: 'template',
    summary: (f) => `WhatsApp template ${f.templateCode ?? '?'} of ${f.orgId} resumed`,
  }],
  ['outhook.consumer.dead_lettered', {
    action: 'trigger',
    severity: 'error',
    about: 'consumer',
    summary: (f) => `Dead letter of the consumer ${f.consumer ?? '?'}: ${f.error ?? '?'}`,
  }],
  ['outhook.database.changed', {
    action: 'trigger',
    severity: 'info',
    about: 'database',
    summary: (f) => `The project ${f.project ?? '?'} continues in another database`,
  }],
])

/** What the event is about. Not empty, because PagerDuty refuses an empty source. */
function subjectOf({ endpointId, orgId, templateCode, consumer, project }: Fields): string {
  if (endpointId !== '') return endpointId
  if (typeof templateCode === 'string') return `${orgId}/${templateCode}`
  return consumer ?? project ?? 'outhook'
}

/** Any other operational event whose last word reports a problem, such as an event of a module. */
const trouble = /^outhook\.([a-z_]+)\.(?:dead_lettered|disabled|held|opened)$/

/** The rule for an event type: its row, or a general one; null if the type reports no problem. */
function ruleFor(eventType: string): Rule | null {
  const row = rules.get(eventType)
  if (row !== undefined) return row
  const [, about] = trouble.exec(eventType) ?? []
  if (about === undefined) return null
  return {
    action: 'trigger',
    severity: 'warning',
    about,
    summary: (f) => [eventType, f.orgId, f.reason ?? f.error ?? ''].filter(Boolean).join(': '),
  }
}

/**
 * The alert of an operational event's envelope; null if the event reports no problem, so that an
 * endpoint may subscribe to more types. Throws if the body is not an envelope.
 */
export function alertOfEvent(body: string): Alert | null {
  const { id, eventType, createdAt, data } = envelope.parse(JSON.parse(body))
  const rule = ruleFor(eventType)
  if (rule === null) return null
  const fields = fieldsOf.parse(data)
  return {
    key: `outhook:${rule.about}:${subjectOf(fields)}`,
    action: rule.action,
    severity: rule.severity,
    summary: rule.summary(fields),
    source: subjectOf(fields),
    at: createdAt,
    details: { ...detailsOf(data), event: eventType, operationalEventId: id },
  }
}
