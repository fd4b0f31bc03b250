/**
 * The one Postgres that all Postgres sides use, with the same settings: the local stack, which holds
 * Outhook, and an empty database for each peer.
 */

import postgres, { type Sql } from 'postgres'
import { FAN_TYPE } from '../sides/_event.ts'
import { type Stack, startStack } from '../../../supabase/local/stack.ts'

export interface Server {
  readonly stack: Stack
  /** A superuser in Outhook's database. */
  readonly sql: Sql
  readonly postmaster: number
  /** Makes the database `name` anew and gives its connection string. */
  freshDatabase(name: string): Promise<string>
  /** Leaves Outhook with nothing but so many endpoints of `origin`. */
  freshOuthook(options: OuthookSetup): Promise<void>
  /** Everything of Outhook's cron jobs that runs each second or minute, on or off. */
  setCron(on: boolean): Promise<void>
  /** What matters of its settings, as it says itself. */
  settings(): Promise<Record<string, string>>
  version(): Promise<string>
  /** Bytes of WAL written so far. */
  wal(): Promise<number>
  stop(): Promise<void>
}

export interface OuthookSetup {
  origin: string
  secret: string
  endpoints: number
  maxInFlight: number
  /** Whether all endpoints subscribe to the same type, instead of each to its own. */
  isFan: boolean
}

const SETTINGS = [
  ...['fsync', 'synchronous_commit', 'full_page_writes', 'wal_level', 'shared_buffers'],
  ...['max_wal_size', 'autovacuum', 'jit'],
]

/** So many endpoints are made in one statement. */
const PER_STATEMENT = 500

/** Starts the stack in `dataDir`, fsync on, without functions. */
export async function startServer(dataDir: string): Promise<Server> {
  const stack = await startStack({ dataDir, ports: 'free', functions: [] })
  const sql = postgres(stack.adminDbUrl, { max: 1, onnotice: () => {} })
  await sql`set statement_timeout = 0`
  return {
    stack,
    sql,
    postmaster: Number(Deno.readTextFileSync(`${dataDir}/pg/postmaster.pid`).split('\n')[0]),
    freshDatabase: async (name) => {
      await sql.unsafe(`drop database if exists ${name} with (force)`)
      await sql.unsafe(`create database ${name}`)
      const url = new URL(stack.adminDbUrl)
      url.pathname = `/${name}`
      return url.href
    },
    freshOuthook: (options) => freshOuthook(sql, options),
    setCron: async (on) => void await sql`update cron.job set active = ${on} where true`,
    settings: async () => {
      const rows = await sql<{ name: string; value: string }[]>`
        select n as name, current_setting(n) as value from unnest(${SETTINGS}::text[]) n`
      return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
    },
    version: async () => {
      const [row] = await sql<{ version: string }[]>`
        select split_part(current_setting('server_version'), ' ', 1) as version`
      return row?.version ?? ''
    },
    wal: async () => {
      const [row] = await sql<{ lsn: string }[]>`
        select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as lsn`
      return Number(row?.lsn)
    },
    stop: async () => {
      await sql.end()
      await stack.stop()
    },
  }
}

async function freshOuthook(
  sql: Sql,
  { origin, secret, endpoints, maxInFlight, isFan }: OuthookSetup,
): Promise<void> {
  await sql`
    truncate outbox.event, outbox.unrouted, outbox.endpoint, outbox.endpoint_secret,
      outbox.subscription, outbox.gate, outbox.lane, outbox.delivery, outbox.attempt, outbox.run,
      outbox.run_batch cascade`
  for (let from = 0; from < endpoints; from += PER_STATEMENT) {
    await sql`
      select outbox.create_endpoint(${`${origin}/`} || n,
        array[case when ${isFan} then ${FAN_TYPE} else 'bench.e' || lpad(n::text, 5, '0') end],
        p_secret => ${secret}, p_max_in_flight => ${maxInFlight}, p_quantum => 100)
      from generate_series(${from}::int, ${Math.min(from + PER_STATEMENT, endpoints) - 1}::int) n`
  }
}
