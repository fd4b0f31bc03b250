import postgres from 'postgres'
import type { NamedDatabase } from '../../../consumer/into/databases.ts'
import { callLimited, within } from '../../../functions/_shared/database/limited.ts'
import { needsTls } from '../remote/needs_tls.ts'

/** A database while it is asked. */
export interface Asked {
  /** Calls a function of the schema outbox that changes nothing. */
  call<Result>(
    name: string,
    args: Readonly<Record<string, string | number | null>>,
  ): Promise<Result>
}

/** What a database has answered, or why it has not: a text without a connection string. */
export type Answer<Value> =
  | { name: string; ok: true; value: Value }
  | { name: string; ok: false; problem: string }

/** Asks all databases at the same time, each for at most `timeoutMs`. The answers have the order of the databases. */
export async function askAll<Value>(
  databases: readonly NamedDatabase[],
  timeoutMs: number,
  ask: (database: Asked, name: string) => Promise<Value>,
): Promise<Answer<Value>[]> {
  return await Promise.all(
    databases.map(async ({ name, url }): Promise<Answer<Value>> => {
      const sql = open(url, timeoutMs)
      try {
        const value = await within(timeoutMs, askOne(sql, timeoutMs, (one) => ask(one, name)))
        return { name, ok: true, value }
      } catch (error) {
        return { name, ok: false, problem: problemOf(error) }
      } finally {
        sql.end({ timeout: 0 }).catch(() => {})
      }
    }),
  )
}

function open(url: string, timeoutMs: number): postgres.Sql {
  return postgres(url, {
    max: 1,
    prepare: false,
    connect_timeout: Math.ceil(timeoutMs / 1_000),
    fetch_types: false,
    onnotice: () => {},
    ...needsTls(url) ? { ssl: 'require' as const } : {},
    connection: { application_name: 'outhook across' },
  })
}

async function askOne<Value>(
  sql: postgres.Sql,
  timeoutMs: number,
  ask: (database: Asked) => Promise<Value>,
): Promise<Value> {
  // postgres.js sends only half of the queries that wait for a connect.
  await sql.unsafe('').simple()
  return await ask({
    async call<Result>(
      name: string,
      args: Readonly<Record<string, string | number | null>>,
    ): Promise<Result> {
      const list = Object.keys(args).map((one, at) => `p_${one} => $${at + 1}`)
      const [row] = await callLimited<{ result: Result }>(
        sql,
        timeoutMs,
        sql.unsafe<{ result: Result }[]>(
          `select outbox.${name}(${list.join(', ')}) as result`,
          Object.values(args),
        ),
      )
      // SAFETY: a SELECT without FROM has one row.
      return (row as { result: Result }).result
    },
  })
}

/** A sentence without its point. The errors of Postgres quote no password. */
function problemOf(error: unknown): string {
  if (error instanceof postgres.PostgresError) {
    if (error.code !== '42883' && error.code !== '3F000') return error.message
    return `${error.message}: it needs Outhook of the version of this command, with the module api`
  }
  if (!(error instanceof Error)) return String(error)
  return 'code' in error ? `the connection failed (${error.code})` : error.message
}
