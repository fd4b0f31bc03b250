/** The command `outhook migrate-from database-webhooks` on a stack of the test. */

import { join } from 'node:path'
import { readMigrateSql } from '../../../package/command/assets.ts'
import {
  migrateDatabase,
  migrateFrom,
  type MigrateOptions,
} from '../../../package/command/migrate_from/migrate_from.ts'
import { type Database, QueryError } from '../../../package/command/migrate_from/query.ts'
import type { Received } from '../../../supabase/local/http/request.ts'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { testFolder } from '../../_support/folder.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../../_support/outhook.ts'

/** How a run of the command ended. */
export interface Ended {
  code: number
  out: string
  errors: string
}

/** The body that both ways send. */
export interface Body {
  type: string
  table: string
  schema: string
  record: { id: number; note: string } | null
  old_record: { id: number; note: string } | null
}

/** A stack with Database Webhooks, and the command. */
export interface Migration {
  outhook: TestOuthook
  /** Runs the command on a connection of this process, or with this Supabase CLI. */
  migrate(options?: Partial<MigrateOptions>, program?: string): Promise<Ended>
  /** Runs the command on this database. */
  migrateOn(database: Database, options?: Partial<MigrateOptions>): Promise<Ended>
  database: Database
  /** The arguments of a webhook as the dashboard writes them. */
  call(path: string, headers?: Record<string, string>, params?: Record<string, string>): string
  /** The requests at a path with their bodies. */
  requestsAt(path: string): { request: Received; body: Body }[]
  /** Waits for so many requests at a path. */
  arrive(path: string, count: number): Promise<void>
  stop(): Promise<void>
}

const sources = join(projectRoot, 'package/command')
const webhooksSql = join(import.meta.dirname ?? '', 'database_webhooks.sql')

/** Starts it. */
export async function startMigration(): Promise<Migration> {
  const project = testFolder()
  await Deno.mkdir(project, { recursive: true })
  const outhook = await startOuthook({ only: ['deliver'] })
  await outhook.admin.unsafe(await Deno.readTextFile(webhooksSql))
  const sql = readMigrateSql(sources)
  const defaults: MigrateOptions = {
    project,
    org: 'default',
    lockTimeout: 5000,
    undo: false,
    finish: false,
    dryRun: false,
    yes: false,
    json: false,
  }
  const failures: string[] = []
  const database = databaseOf(async (text) => await outhook.sql.unsafe(text), failures)

  async function run(
    start: (terminal: Parameters<typeof migrateFrom>[2]) => Promise<number>,
  ): Promise<Ended> {
    const lines: string[] = []
    failures.length = 0
    const code = await start({
      isInteractive: false,
      print: (line: string) => void lines.push(line),
      printError: (line: string) => void failures.push(line),
    })
    return { code, out: lines.join('\n'), errors: failures.join('\n') }
  }

  function requestsAt(path: string): { request: Received; body: Body }[] {
    return outhook.receiver.received.filter((one) => one.path === path).map((request) => ({
      request,
      // SAFETY: both ways send JSON of this form, which the tests compare.
      body: JSON.parse(new TextDecoder().decode(request.body)) as Body,
    }))
  }

  return {
    outhook,
    database,
    requestsAt,
    async migrate(options = {}, program): Promise<Ended> {
      const all = { ...defaults, ...options }
      const dbUrl = options.dbUrl ?? `${outhook.stack.dbUrl}?sslmode=disable`
      return await run(async (terminal) =>
        program === undefined
          ? await migrateDatabase(database, sql, all, terminal)
          : await migrateFrom(sql, { ...all, dbUrl, supabase: program }, terminal)
      )
    },
    async migrateOn(other, options = {}): Promise<Ended> {
      return await run(async (terminal) =>
        await migrateDatabase(other, sql, { ...defaults, ...options }, terminal)
      )
    },
    call(path, headers = {}, params = {}): string {
      const all = { 'Content-type': 'application/json', ...headers }
      return `supabase_functions.http_request('${outhook.receiver.url}${path}', 'POST', ` +
        `'${JSON.stringify(all)}', '${JSON.stringify(params)}', '5000')`
    },
    async arrive(path, count): Promise<void> {
      const all = await waitUntil(() => requestsAt(path).length >= count, {
        timeoutMs: patienceMs,
      })
      if (!all) throw new Error(`${requestsAt(path).length} of ${count} requests came at ${path}`)
    },
    async stop(): Promise<void> {
      await outhook.stop()
      await Deno.remove(project, { recursive: true })
    },
  }
}

/** A database of the command that executes statements in this way. */
export function databaseOf(
  execute: (text: string) => Promise<Iterable<{ found?: unknown }>>,
  failures: string[] = [],
): Database {
  const run = async (text: string): Promise<{ found?: unknown }[]> => {
    try {
      return [...await execute(text)]
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      failures.push(message)
      throw new QueryError(message)
    }
  }
  return {
    execute: async (text) => void await run(text),
    query: async (text) => (await run(text))[0]?.found,
  }
}
