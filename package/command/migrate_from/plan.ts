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
  /** Of its events, which may have {op}. */
  type: string
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
  const types: TakenTypes = new Map()
  for (const { schema, table, watch } of outbox.watches) {
    if (watch !== null) take(types, watch.type, JSON.stringify([schema, table]))
  }
  for (const table of new Set(found.webhooks.map(tableOf))) {
    const movable: Webhook[] = []
    for (const webhook of found.webhooks.filter((one) => tableOf(one) === table)) {
      const why = whyItStays(webhook, found.role, outbox) ?? whyNotReplaced(webhook, outbox)
      if (webhook.endpoint_id !== null && webhook.enabled === 'D') plan.done.push(webhook)
      else if (why === null) movable.push(webhook)
      else plan.staying.push({ webhook, why })
    }
    planTable(movable, outbox, orgId, types, plan)
  }
  return plan
}

/** The tables that publish each event type. */
type TakenTypes = Map<string, Set<string>>

function take(types: TakenTypes, type: string, table: string): void {
  for (const one of typesOf(type)) types.set(one, (types.get(one) ?? new Set()).add(table))
}

/** The event types that a watch with this type may publish. */
export function typesOf(type: string): string[] {
  return [...new Set(Object.values(words).map((word) => type.replaceAll('{op}', word)))]
}

function tableOf({ schema, table }: Webhook): string {
  return JSON.stringify([schema, table])
}

/** Why a webhook cannot become an endpoint; null if it can. */
function whyItStays(webhook: Webhook, role: string, { url_problems }: OutboxFound): string | null {
  const { id, method, enabled, owned, after, of_view, for_each_row, events } = webhook
  const urlProblem = url_problems[id]
  if (enabled === 'D') return 'it is disabled'
  if (enabled !== 'O') return 'it depends on session_replication_role'
  if (!owned) return `${role} does not own the table and cannot disable its triggers`
  if (method !== 'POST') return `it sends ${method}, and an endpoint gets POST requests only`
  if (!for_each_row) return 'it is called once for each statement and sends no row'
  if (of_view) return 'it is called for a view: watch the tables of the view'
  if (!after) return 'it is called before the change: create it again as an AFTER trigger'
  if (events.includes('truncate')) return 'it is called by TRUNCATE, which has no event'
  if (webhook.has_condition) {
    return 'it has a condition (WHEN), which is SQL. Watch the table yourself, and give the ' +
      'endpoint a filter on the payload'
  }
  if (urlProblem !== undefined) return `its URL ${urlProblem}`
  return null
}

/** Why the arguments of a webhook, or an earlier endpoint of it, prevent a new endpoint. */
function whyNotReplaced(
  { id, timeout_ms, endpoint_id }: Webhook,
  { headers, params, replaced }: OutboxFound,
): string | null {
  if (headers[id] === undefined) return 'its headers are no JSON object'
  if (params[id] === undefined) return 'its parameters are no JSON object'
  if (timeout_ms === null || timeout_ms > 60_000) return 'its timeout is not one of 60 s at most'
  if (!replaced.includes(id)) return null
  return `it was replaced by the endpoint ${endpoint_id}, which still gets events: each row may come ` +
    'twice. Disable the trigger again, or delete the endpoint'
}

function planTable(
  webhooks: readonly Webhook[],
  outbox: OutboxFound,
  orgId: string,
  types: TakenTypes,
  { tables, staying }: MigrationPlan,
): void {
  const [first] = webhooks
  if (first === undefined) return
  const { schema, table } = first
  const watched = outbox.watches.find((one) => one.schema === schema && one.table === table)
  const type = watched?.watch?.type ?? typeOf(first)
  const columns = columnsOf(webhooks)
  const whyNone = whyNoTable(type, tableOf(first), watched, types)
  const kept: Replaced[] = []
  for (const webhook of webhooks) {
    const why = whyNone ??
      (watched === undefined
        ? whyNotTogether(webhook, columns)
        : whyNotWatched(webhook, watched, orgId))
    if (why === null) kept.push(replace(webhook, type, outbox))
    else staying.push({ webhook, why })
  }
  if (kept.length === 0) return
  take(types, type, tableOf(first))
  const operations = first.partitioned
    ? ['insert', 'update', 'delete']
    : ['insert', 'update', 'delete'].filter((one) =>
      kept.some(({ webhook }) => webhook.events.includes(one))
    )
  const all = kept.flatMap(({ eventTypes }) => eventTypes)
  tables.push({
    schema,
    table,
    type,
    watch: watched === undefined ? { type, operations, changed: columns } : null,
    replaced: kept,
    alsoTo: outbox.endpoints.filter(({ patterns }) => all.some((one) => matches(patterns, one)))
      .map(({ id, url }) => `${id} (${url})`),
  })
}

/** Why no webhook of a table can become an endpoint; null if one can. */
function whyNoTable(
  type: string,
  table: string,
  watched: OutboxFound['watches'][number] | undefined,
  types: TakenTypes,
): string | null {
  if (watched !== undefined && watched.problem !== null) return watched.problem
  if (watched !== undefined && watched.watch === null) {
    return 'the table has a part of a watch: call watch_table() or unwatch_table()'
  }
  const isTaken = typesOf(type).some((one) =>
    [...types.get(one) ?? []].some((other) => other !== table)
  )
  if (isTaken) return `another table has events of the type ${type}`
  if (typesOf(type).every(isValidType)) return null
  return `the name of the table gives no event type (${type}): watch the table yourself`
}

/** As check_type() of the database. */
function isValidType(type: string): boolean {
  return /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(type) && type.length <= 128 &&
    !type.toLowerCase().startsWith('outhook.')
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

function whyNotTogether({ columns }: Webhook, common: string[] | null): string | null {
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
  if (watch === null || watch.named !== undefined || watch.org_id !== orgId) {
    return 'the table is watched with other columns or for another organisation'
  }
  if (missing.length > 0) return `the table is watched, but not its ${missing.join(' and ')}`
  if (typesOf(watch.type).length === 1 && operations.some((one) => !events.includes(one))) {
    return `the events of the table have one type, ${watch.type}, also those of other operations`
  }
  return columns.length === 0 ? null : 'the table is watched for updates of all columns'
}

function replace(
  webhook: Webhook,
  type: string,
  outbox: OutboxFound,
): Replaced {
  const { id, columns, partitioned, has_query, events } = webhook
  const headerProblems = outbox.header_problems[id] ?? {}
  const headers = outbox.headers[id] ?? []
  const params = outbox.params[id] ?? []
  const sent = headers.filter((name) => headerProblems[name] === undefined)
  const differences = [
    ...headers.filter((name) => !sent.includes(name)).map((name) =>
      `The header ${name} is not sent: it ${headerProblems[name]}`
    ),
    ...columns.length === 0 || !events.includes('update') ? [] : [
      `An update is sent if it changes ${
        columns.join(', ')
      }, also by a BEFORE trigger, and not if ` +
      'it sets the value that is there',
    ],
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
    eventTypes: events.map((one) => type.replaceAll('{op}', words[one] ?? one)),
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
