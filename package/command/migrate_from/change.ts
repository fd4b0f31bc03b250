import type { Found, OutboxFound, Webhook } from './facts.ts'
import { type TablePlan, typesOf } from './plan.ts'
import { nameOf } from './show.ts'

/** The change of one table: a statement and its argument. */
export interface TableChange {
  /** Of the table, with its schema. */
  name: string
  statement: 'switch' | 'undo' | 'finish'
  plan: unknown
  /** The webhooks that it changes, as they are before. */
  webhooks: Webhook[]
  says: string
}

interface ChangeOptions {
  org: string
  lockTimeout: number
  undo: boolean
}

/** The change that replaces the webhooks of a table. */
export function changeText(
  { schema, table, type, watch, replaced }: TablePlan,
  { watches }: OutboxFound,
  { org, lockTimeout }: ChangeOptions,
): TableChange {
  return {
    name: `${schema}.${table}`,
    statement: 'switch',
    says: '',
    webhooks: replaced.map(({ webhook }) => webhook),
    plan: {
      schema,
      table,
      org_id: org,
      lock_timeout_ms: lockTimeout,
      watch,
      watch_versions: watches.find((one) => one.schema === schema && one.table === table)
        ?.versions ?? [],
      types: typesOf(type),
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
    const statement = undo ? 'undo' as const : 'finish' as const
    return [{ name, statement, plan, says, webhooks: own }]
  })
}

/** What the database says of a change whose statement failed, or whose answer was lost. */
export function stateAfter(
  { statement, webhooks }: TableChange,
  { webhooks: now }: Found,
): 'done' | 'failed' | 'unknown' {
  const reached = webhooks.filter(({ id }) => {
    const after = now.find((one) => one.id === id)
    if (statement === 'finish') return after === undefined
    return statement === 'undo'
      ? after?.enabled === 'O' && after.endpoint_id === null
      : after?.enabled === 'D' && after.endpoint_id !== null
  })
  if (reached.length === webhooks.length) return 'done'
  // Somebody else has changed some of them.
  return reached.length === 0 ? 'failed' : 'unknown'
}
