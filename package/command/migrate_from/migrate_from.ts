import { confirm } from '@clack/prompts'
import { CliError, findCli } from '../deploy/cli.ts'
import { exitCodes, type Terminal } from '../terminal.ts'
import type { Found, OutboxFound } from './facts.ts'
import { changeText, makeReturn, stateAfter, type TableChange } from './change.ts'
import { makePlan, type MigrationPlan } from './plan.ts'
import { cliDatabase, type Database, literal, QueryError } from './query.ts'
import { showPlan } from './show.ts'

/** The statements of the command. */
export interface MigrateSql {
  read: string
  outbox: string
  switch: string
  undo: string
  finish: string
  settle: string
}

/** The options of `outhook migrate-from database-webhooks`. */
export interface MigrateOptions {
  project: string
  projectRef?: string
  dbUrl?: string
  /** The program of the Supabase CLI. */
  supabase?: string
  org: string
  /** Only these tables; all without it. */
  tables?: string[]
  /** How long the change of a table waits for its lock, in milliseconds. */
  lockTimeout: number
  undo: boolean
  finish: boolean
  dryRun: boolean
  yes: boolean
  json: boolean
}

/** Replaces Database Webhooks by watched tables and endpoints, and returns the exit code. */
export async function migrateFrom(
  sql: MigrateSql,
  options: MigrateOptions,
  terminal: Terminal,
): Promise<number> {
  const { projectRef, dbUrl } = options
  const wrong = wrongOptions(options)
  if (wrong !== null) {
    terminal.printError(wrong)
    return exitCodes.usage
  }
  try {
    const cli = await findCli(options.project, options.supabase)
    const targets = { major: cli.major, projectRef: projectRef ?? null, dbUrl: dbUrl ?? null }
    return await migrateDatabase(cliDatabase(cli, targets), sql, options, terminal)
  } catch (error) {
    if (!(error instanceof CliError) && !(error instanceof QueryError)) throw error
    terminal.printError(error.message)
    return exitCodes.failed
  }
}

function wrongOptions({ projectRef, dbUrl, undo, finish }: MigrateOptions): string | null {
  if (undo && finish) return '--undo and --finish are opposites: give one of them'
  if (projectRef === undefined && dbUrl === undefined) {
    return 'There is no project: add --project-ref or --db-url. ' +
      'Example: outhook migrate-from database-webhooks --project-ref abcdefghijklmnopqrst'
  }
  if (projectRef !== undefined && !/^[a-z0-9]{20}$/.test(projectRef)) {
    return '--project-ref takes the 20 letters and digits of https://<ref>.supabase.co'
  }
  return dbUrl === undefined || /^postgres(ql)?:\/\//.test(dbUrl)
    ? null
    : '--db-url takes a connection string: postgresql://user:password@host:5432/postgres'
}

/** The same for a database that is open. Rejects with a QueryError if it cannot be read. */
export async function migrateDatabase(
  database: Database,
  sql: MigrateSql,
  options: MigrateOptions,
  terminal: Terminal,
): Promise<number> {
  // SAFETY: the statements build what the interfaces of their results describe.
  const found = await database.query(sql.read) as Found
  if (!found.can_watch) {
    terminal.printError(
      'The database has no watch_table(): run outhook init --modules watch, then outhook deploy',
    )
    return exitCodes.failed
  }
  const missing = tablesWithout(found, options.tables)
  if (missing.length > 0) {
    terminal.printError(`No Database Webhook belongs to: ${missing.join(', ')}`)
    return exitCodes.failed
  }
  // SAFETY: as above.
  const outbox = await database.query(
    sql.outbox.replace('{org}', () => literal(options.org)),
  ) as OutboxFound
  const plan = makePlan(ofTables(found, options.tables), outbox, options.org)
  const changes = options.undo || options.finish
    ? makeReturn(plan.done, options)
    : plan.tables.map((table) => changeText(table, outbox, options))
  if (!options.json) {
    terminal.print(
      options.undo || options.finish
        ? changes.map(({ says }) => says).join('\n') || 'Nothing was replaced by this command.'
        : showPlan(plan, found.other_triggers, outbox.timeout_ms),
    )
  }
  const may = await mayChange(changes, outbox, options, terminal)
  const states = new Map<string, string>()
  if (may === null) {
    for (const change of changes) {
      states.set(change.name, await carryOut(database, sql, change, terminal))
    }
  }
  if (options.json) terminal.print(JSON.stringify(report(plan, changes, states, outbox), null, 2))
  if (may !== null) return may
  const isDone = [...states.values()].every((state) => state === 'done')
  return isDone ? exitCodes.done : exitCodes.failed
}

function ofTables(found: Found, tables: readonly string[] | undefined): Found {
  const webhooks = found.webhooks.filter((webhook) =>
    tables === undefined || tables.some((name) => isOfTable(webhook, name))
  )
  return { ...found, webhooks }
}

function tablesWithout({ webhooks }: Found, tables: readonly string[] = []): string[] {
  return tables.filter((name) => !webhooks.some((webhook) => isOfTable(webhook, name)))
}

function isOfTable({ schema, table }: Found['webhooks'][number], name: string): boolean {
  return name === table || name === `${schema}.${table}`
}

/** Null if the changes are to be made, otherwise the exit code. */
async function mayChange(
  changes: readonly TableChange[],
  { delivers }: OutboxFound,
  { dryRun, yes, json, undo, finish }: MigrateOptions,
  { isInteractive, printError }: Terminal,
): Promise<number | null> {
  if (changes.length === 0 || dryRun || (json && !yes)) return exitCodes.done
  if (!delivers && !undo) {
    printError(
      'Outhook does not deliver: no worker runs, and the database does not call its functions. Run ' +
        'outhook deploy first, until outhook check finds no error',
    )
    return exitCodes.failed
  }
  if (yes) return null
  const tables = changes.length === 1
    ? 'this table'
    : `these ${changes.length} tables, each in one transaction`
  const message = finish
    ? `Drop the triggers of ${tables}? This cannot be undone`
    : `Change ${tables}?`
  if (isInteractive && await confirm({ message }) === true) return null
  printError('Nothing was changed: confirm it with --yes')
  return exitCodes.undecided
}

async function carryOut(
  database: Database,
  sql: MigrateSql,
  change: TableChange,
  { printError }: Terminal,
): Promise<string> {
  const { name, plan, statement } = change
  // A dollar sign could end the body of the statement.
  const text = JSON.stringify(plan).replaceAll('$', '\\u0024')
  try {
    await database.execute(sql[statement].replace('{plan}', () => literal(text)))
    printError(`${name}: done`)
    return 'done'
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
  }
  const state = await settledState(database, sql, change)
  const says = {
    done: 'done. Only the answer of the database was lost',
    failed: 'nothing was changed. Correct the cause, and run the command again',
    unknown: 'it is not known what was changed. See it with --dry-run before anything else',
  }
  printError(`${name}: ${says[state]}`)
  return state
}

/** Reads what became of a change that ended with an error: the transaction may have been committed. */
async function settledState(
  database: Database,
  { settle, read }: MigrateSql,
  change: TableChange,
): Promise<'done' | 'failed' | 'unknown'> {
  try {
    await database.execute(settle)
    // SAFETY: the statement builds what the interface of its result describes.
    return stateAfter(change, await database.query(read) as Found)
  } catch (error) {
    if (!(error instanceof QueryError)) throw error
    return 'unknown'
  }
}

function report(
  plan: MigrationPlan,
  changes: readonly TableChange[],
  states: ReadonlyMap<string, string>,
  { timeout_ms }: OutboxFound,
): unknown {
  return {
    tables: changes.map(({ name, statement }) => ({
      table: name,
      action: statement,
      state: states.get(name) ?? 'planned',
    })),
    webhooks: plan.tables.flatMap(({ schema, table, watch, replaced }) =>
      replaced.map(({ webhook, eventTypes, headers, differences }) => ({
        table: `${schema}.${table}`,
        name: webhook.name,
        watch,
        endpoint: {
          url: webhook.url,
          eventTypes,
          headers,
          timeoutMs: Math.max(webhook.timeout_ms ?? 0, timeout_ms),
        },
        differences,
      }))
    ),
    staying: plan.staying.map(({ webhook: { schema, table, name }, why }) => ({
      table: `${schema}.${table}`,
      name,
      why,
    })),
    replaced: plan.done.map(({ schema, table, name, endpoint_id }) => ({
      table: `${schema}.${table}`,
      name,
      endpointId: endpoint_id,
    })),
  }
}
