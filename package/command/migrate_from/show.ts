import type { Webhook } from './facts.ts'
import type { MigrationPlan, Replaced, TablePlan } from './plan.ts'

/** The plan for a person. */
export function showPlan(
  { tables, staying, done }: MigrationPlan,
  otherTriggers: readonly string[],
  defaultTimeoutMs: number,
): string {
  const lines = [
    ...tables.flatMap((table) => showTable(table, defaultTimeoutMs)),
    ...staying.map(({ webhook, why }) => `${nameOf(webhook)} stays as it is: ${why}`),
    ...done.map((webhook) =>
      `${nameOf(webhook)} was replaced by the endpoint ${webhook.endpoint_id}. Its trigger is ` +
      'disabled: --undo returns to it, --finish drops it'
    ),
    ...otherTriggers.map((name) =>
      `The trigger ${name} calls a function of yours that sends requests. It stays as it is`
    ),
  ]
  if (lines.length === 0) return 'The project has no Database Webhooks.'
  return [...lines, ...tables.length === 0 ? [] : ['', ...forAll]].join('\n')
}

/** What holds for each webhook that becomes an endpoint. */
const forAll = [
  'The body keeps its form: {"type", "table", "schema", "record", "old_record"}, sent as JSON. Values',
  'are written as Postgres writes them (row_to_json), with times in UTC. Each request also has the',
  'headers of a signature, which the receiver may ignore or verify.',
  'A request without a response of 2xx is sent again, so an event may arrive more than once: the',
  'header webhook-id is the same each time. A Database Webhook is sent once, whatever happens.',
  'If an event cannot be published, the change of the row fails. A change of many rows publishes one',
  'event for each row.',
]

function showTable({ schema, table, watch, replaced, alsoTo }: TablePlan, ms: number): string[] {
  const events = watch?.operations.join(', ') ?? ''
  return [
    `${schema}.${table}`,
    watch === null ? '  is watched already' : `  watch_table: ${watch.type}, for ${events}` +
      (watch.changed === null ? '' : `, if one of these columns changes: ${watch.changed}`),
    ...replaced.flatMap((one) => showReplaced(one, ms)),
    ...alsoTo.map((endpoint) => `  these events also go to the endpoint ${endpoint}`),
  ]
}

function showReplaced(
  { webhook, eventTypes, headers, differences }: Replaced,
  ms: number,
): string[] {
  const timeout = Math.max(webhook.timeout_ms ?? 0, ms)
  return [
    `  ${webhook.name} -> an endpoint ${webhook.url}`,
    `    events   ${eventTypes.join(', ')}`,
    `    headers  ${headers.length === 0 ? 'none' : `${headers.join(', ')} (values in Vault)`}`,
    `    timeout  ${timeout} ms` +
    (timeout === webhook.timeout_ms
      ? ''
      : `, and not ${webhook.timeout_ms} ms: an attempt that takes longer is made again`),
    ...differences.map((text) => `    note     ${text}`),
  ]
}

/** The name of a webhook with its table. */
export function nameOf({ schema, table, name }: Webhook): string {
  return `${schema}.${table}: ${name}`
}
