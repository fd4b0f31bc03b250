import type { Found, OutboxFound, Webhook } from './facts.ts'

/** What becomes of one webhook. */
export interface Replaced {
  webhook: Webhook
  /** The event types of its endpoint. */
  eventTypes: string[]
  headers: string[]
  /** What the receiver may notice. */
  differences: string[]
}

/** What is done with one table, in one transaction. */
export interface TablePlan {
  schema: string
  table: string
  /** Null: the table is watched already. */
  watch: { type: string; operations: string[]; changed: string[] | null } | null
  replaced: Replaced[]
  /** Other endpoints that get the events of the table. */
  alsoTo: string[]
}

/** What the command does. */
export interface MigrationPlan {
  tables: TablePlan[]
  /** Webhooks that stay as they are, with the reason. */
  staying: { webhook: Webhook; why: string }[]
  /** Webhooks that an earlier run has replaced, and whose triggers are still there. */
  done: Webhook[]
}

const words: Readonly<Record<string, string>> = {
  insert: 'inserted',
  update: 'updated',
  delete: 'deleted',
}

/** Decides what becomes of each webhook. */
export function makePlan(found: Found, outbox: OutboxFound, orgId: string): MigrationPlan {
  const plan: MigrationPlan = { tables: [], staying: [], done: [] }
  const types = new Set<string>()
  for (const table of new Set(found.webhooks.map(tableOf))) {
    const movable: Webhook[] = []
    for (const webhook of found.webhooks.filter((one) => tableOf(one) === table)) {
      const why = whyItStays(webhook, found.role, outbox)
      if (webhook.endpoint_id !== null && webhook.enabled === 'D') plan.done.push(webhook)
      else if (why === null) movable.push(webhook)
      else plan.staying.push({ webhook, why })
    }
    planTable(movable, outbox, orgId, types, plan)
  }
  return plan
}

function tableOf({ schema, table }: Webhook): string {
  return JSON.stringify([schema, table])
}

/** Why a webhook cannot become an endpoint; null if it can. */
function whyItStays(webhook: Webhook, role: string, { url_problems }: OutboxFound): string | null {
  const { id, method, enabled, owned, after, for_each_row, events, condition } = webhook
  const urlProblem = url_problems[id]
  if (enabled === 'D') return 'it is disabled'
  if (enabled !== 'O') return 'it depends on session_replication_role'
  if (!owned) return `${role} does not own the table and cannot disable its triggers`
  if (method !== 'POST') return `it sends ${method}, and an endpoint gets POST requests only`
  if (!for_each_row) return 'it is called once for each statement and sends no row'
  if (!after) return 'it is called before the change: create it again as an AFTER trigger'
  if (events.includes('truncate')) return 'it is called by TRUNCATE, which has no event'
  if (condition !== null) {
    return `it has the condition ${condition}, which is SQL. Watch the table yourself, and give ` +
      'the endpoint a filter on the payload'
  }
  if (urlProblem !== undefined) return `its URL ${urlProblem}`
  return null
}

function planTable(
  webhooks: readonly Webhook[],
  outbox: OutboxFound,
  orgId: string,
  types: Set<string>,
  { tables, staying }: MigrationPlan,
): void {
  const [first] = webhooks
  if (first === undefined) return
  const { schema, table } = first
  const watched = outbox.watches.find((one) => one.schema === schema && one.table === table)
  const type = watched?.watch.type ?? typeOf(first)
  const columns = columnsOf(webhooks)
  const kept: Replaced[] = []
  for (const webhook of webhooks) {
    const why = watched === undefined
      ? whyNotTogether(webhook, columns, types.has(type), type)
      : whyNotWatched(webhook, watched, orgId)
    if (why === null) kept.push(replace(webhook, type, outbox.header_problems[webhook.id] ?? {}))
    else staying.push({ webhook, why })
  }
  if (kept.length === 0) return
  types.add(type)
  const operations = first.partitioned
    ? ['insert', 'update', 'delete']
    : ['insert', 'update', 'delete'].filter((one) =>
      kept.some(({ webhook }) => webhook.events.includes(one))
    )
  const all = kept.flatMap(({ eventTypes }) => eventTypes)
  tables.push({
    schema,
    table,
    watch: watched === undefined ? { type, operations, changed: columns } : null,
    replaced: kept,
    alsoTo: outbox.endpoints.filter(({ patterns }) => all.some((one) => matches(patterns, one)))
      .map(({ id, url }) => `${id} (${url})`),
  })
}

/** The type of the events of a table, with `{op}` for the operation. */
function typeOf({ schema, table }: Webhook): string {
  const name = schema === 'public' ? table : `${schema}.${table}`
  return `${name.toLowerCase().replaceAll(/[^a-z0-9_.-]/g, '_').slice(0, 100)}.{op}`
}

/** The columns of UPDATE OF, if all webhooks that are called by updates have the same ones. */
function columnsOf(webhooks: readonly Webhook[]): string[] | null {
  const lists = webhooks.filter(({ events }) => events.includes('update'))
    .map(({ columns }) => columns)
  const [first] = lists
  const isSame = lists.every((one) => JSON.stringify(one) === JSON.stringify(first))
  return first !== undefined && first.length > 0 && isSame ? first : null
}

function whyNotTogether(
  { columns }: Webhook,
  common: string[] | null,
  isTaken: boolean,
  type: string,
): string | null {
  if (isTaken) return `another table has events of the type ${type}`
  if (columns.length === 0 || common !== null) return null
  return `it is called for updates of ${
    columns.join(', ')
  }, and another webhook of the table for ` +
    'other updates: a table has one list of columns'
}

function whyNotWatched(
  { events, columns }: Webhook,
  { watch, operations }: OutboxFound['watches'][number],
  orgId: string,
): string | null {
  const missing = events.filter((one) => !operations.includes(one))
  if (watch.named !== undefined || watch.org_id !== orgId) {
    return 'the table is watched with other columns or for another organisation'
  }
  if (missing.length > 0) return `the table is watched, but not its ${missing.join(' and ')}`
  return columns.length === 0 ? null : 'the table is watched for updates of all columns'
}

function replace(
  webhook: Webhook,
  type: string,
  headerProblems: Readonly<Record<string, string>>,
): Replaced {
  const { headers, columns, partitioned, has_query, params, events } = webhook
  const sent = headers.filter((name) => headerProblems[name] === undefined)
  const differences = [
    ...headers.filter((name) => !sent.includes(name)).map((name) =>
      `The header ${name} is not sent: it ${headerProblems[name]}`
    ),
    ...columns.length === 0 || !events.includes('update')
      ? []
      : [`An update that sets ${columns.join(', ')} to the value that is there sends nothing`],
    ...partitioned
      ? [
        'The member table is the partitioned table, and a row that moves to another partition is ' +
        'one UPDATE',
      ]
      : [],
    ...has_query || params.length > 0
      ? ['Whoever may read the endpoint sees the query of its URL']
      : [],
  ]
  return {
    webhook,
    eventTypes: events.map((one) => type.replace('{op}', words[one] ?? one)),
    headers: sent,
    differences,
  }
}

function matches(patterns: readonly string[], type: string): boolean {
  return patterns.some((pattern) =>
    pattern === '*' || pattern === type ||
    (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))
  )
}
