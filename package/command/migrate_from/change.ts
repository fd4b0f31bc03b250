import type { OutboxFound, Webhook } from './facts.ts'
import type { TablePlan } from './plan.ts'
import { nameOf } from './show.ts'

/** The change of one table: a statement and its argument. */
export interface TableChange {
  /** Of the table, with its schema. */
  name: string
  statement: 'switch' | 'undo' | 'finish'
  plan: unknown
  says: string
}

interface ChangeOptions {
  org: string
  lockTimeout: number
  undo: boolean
}

/** The change that replaces the webhooks of a table. */
export function changeText(
  { schema, table, watch, replaced }: TablePlan,
  { watches }: OutboxFound,
  { org, lockTimeout }: ChangeOptions,
): TableChange {
  return {
    name: `${schema}.${table}`,
    statement: 'switch',
    says: '',
    plan: {
      schema,
      table,
      org_id: org,
      lock_timeout_ms: lockTimeout,
      was_watched: watches.some((one) => one.schema === schema && one.table === table),
      watch,
      webhooks: replaced.map(({ webhook, eventTypes, headers }) => ({
        name: webhook.name,
        version: webhook.version,
        event_types: eventTypes,
        headers,
        timeout_ms: webhook.timeout_ms,
        description: `Was the Database Webhook ${webhook.name} of ${schema}.${table}`,
      })),
    },
  }
}

/** The changes that enable or drop the triggers of webhooks that were replaced. */
export function makeReturn(
  done: readonly Webhook[],
  { undo, lockTimeout }: ChangeOptions,
): TableChange[] {
  const names = [...new Set(done.map(({ schema, table }) => `${schema}.${table}`))]
  return names.flatMap((name) => {
    const own = done.filter(({ schema, table }) => `${schema}.${table}` === name)
    const [first] = own
    if (first === undefined) return []
    const { schema, table } = first
    const says = own.map((webhook) =>
      undo
        ? `${
          nameOf(webhook)
        } is enabled again. The endpoint ${webhook.endpoint_id} gets no later ` +
          'event: delete it when its deliveries are done'
        : `${nameOf(webhook)} is dropped`
    ).join('\n')
    const plan = { schema, table, lock_timeout_ms: lockTimeout }
    return [{ name, statement: undo ? 'undo' as const : 'finish' as const, plan, says }]
  })
}
