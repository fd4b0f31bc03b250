/**
 * How long dispatch() takes with ever more deliveries waiting, and beside backlogs of other shapes:
 *
 *   deno run -A tests/bench/dispatch.ts [--deliveries 1000,100000,1000000] [--calls 500]
 *
 * Tables are loaded in bulk; then each call claims 400 and reports the 400 before as delivered. As many
 * are put back as were delivered, outside of what is measured.
 */

import { parseArgs } from 'node:util'
import postgres, { type Sql } from 'postgres'
import { prepareDatabase } from '../../supabase/local/database/mod.ts'
import { startPostgres } from '../../supabase/local/postgres/mod.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from '../_support/folder.ts'

const LIMIT = 400
const WARM_UP = 50

/** Some endpoints, each with so many deliveries in one lane, or in a lane for each of its keys. */
interface Load {
  endpoints: number
  each: number
  keys?: number
  secrets?: boolean
}

interface Scenario {
  name: string
  loads: Load[]
}

function scenarios(sizes: number[]): Scenario[] {
  return [
    ...sizes.map((size) => ({
      name: `${short(size)} waiting, 1,000 gates`,
      loads: [{ endpoints: 1000, each: Math.ceil(size / 1000) }],
    })),
    {
      name: '100k waiting, 1,000 gates with a secret',
      loads: [{ endpoints: 1000, each: 100, secrets: true }],
    },
    { name: '100k waiting, 10,000 gates', loads: [{ endpoints: 10_000, each: 10 }] },
    {
      name: '200k waiting, 100,000 keys of one gate',
      loads: [{ endpoints: 1, each: 200_000, keys: 100_000 }],
    },
    {
      name: '1M in one lane, 100k in 1,000 gates',
      loads: [{ endpoints: 1000, each: 100 }, { endpoints: 1, each: 1_000_000 }],
    },
  ]
}

interface Measured {
  claimed: number
  gates: number
  p50: number
  p95: number
  /** What the backend computed, of which other load on the machine is no part; null where it cannot be told. */
  cpu50: number | null
  cpu95: number | null
  wal: number
  dead: number
  hot: number
  seq_scans: number
}

async function measure(sql: Sql, { loads }: Scenario, calls: number): Promise<Measured> {
  await sql`
    truncate outbox.event, outbox.unrouted, outbox.endpoint, outbox.endpoint_secret, outbox.gate, outbox.lane,
      outbox.delivery, outbox.attempt, outbox.run, outbox.run_batch, bench.call`
  for (const { endpoints, each, keys = 0, secrets = false } of loads) {
    await sql`call bench.load(${endpoints}, ${each}, ${keys}, ${secrets})`
  }
  for (const table of ['event', 'endpoint', 'gate', 'lane', 'delivery']) {
    await sql.unsafe(`vacuum analyze outbox.${table}`)
  }
  await sql`checkpoint`
  await sql`call bench.run(${WARM_UP}, ${LIMIT})`
  await sql`truncate bench.call`
  await sql`call bench.run(${calls}, ${LIMIT})`
  const [row] = await sql<Measured[]>`
    select avg(c.claimed)::float8 as claimed, avg(c.gates)::float8 as gates,
      percentile_cont(0.5) within group (order by c.ms) as p50, percentile_cont(0.95) within group (order by c.ms) as p95,
      percentile_cont(0.5) within group (order by c.cpu_ms) as cpu50, percentile_cont(0.95) within group (order by c.cpu_ms) as cpu95,
      (sum(c.wal_bytes) / sum(c.claimed))::float8 as wal, (sum(c.updates + c.deletes) / sum(c.claimed))::float8 as dead,
      (sum(c.hot_updates) / sum(c.updates))::float8 as hot, sum(c.seq_scans)::float8 as seq_scans
    from bench.call c`
  if (row === undefined) throw new Error('nothing was measured')
  return row
}

function header(): string {
  return `| ${
    'backlog'.padEnd(40)
  } | claimed | gates |   p50 |   p95 | cpu 50 | cpu 95 | to first | WAL B | dead | HOT % | seq |`
}

function line(name: string, row: Measured, first: Measured): string {
  const cells = [
    name.padEnd(40),
    row.claimed.toFixed(0).padStart(7),
    row.gates.toFixed(0).padStart(5),
    row.p50.toFixed(1).padStart(5),
    row.p95.toFixed(1).padStart(5),
    (row.cpu50?.toFixed(1) ?? '').padStart(6),
    (row.cpu95?.toFixed(1) ?? '').padStart(6),
    (row.cpu95 !== null && first.cpu95 !== null ? row.cpu95 / first.cpu95 : row.p95 / first.p95)
      .toFixed(2).padStart(8),
    row.wal.toFixed(0).padStart(5),
    row.dead.toFixed(2).padStart(4),
    (100 * row.hot).toFixed(1).padStart(5),
    row.seq_scans.toFixed(0).padStart(3),
  ]
  return `| ${cells.join(' | ')} |`
}

function short(count: number): string {
  return count >= 1e6 ? `${count / 1e6}M` : `${count / 1e3}k`
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      deliveries: { type: 'string', default: '1000,100000,1000000' },
      calls: { type: 'string', default: '500' },
    },
  })
  const sizes = values.deliveries.split(',').map(Number)
  const calls = Number(values.calls)
  if (![...sizes, calls].every((count) => Number.isInteger(count) && count > 0)) {
    throw new Error('--deliveries and --calls take whole numbers, such as 1000,100000 and 500')
  }
  const dataDir = testFolder()
  const pg = await startPostgres({ dataDir, port: 'free', fsync: true, log: () => {} })
  const sql = postgres(pg.adminDbUrl, { max: 1, onnotice: () => {} })
  try {
    await prepareDatabase({ dbUrl: pg.dbUrl, projectDir: projectRoot, log: () => {} })
    await sql`update cron.job set active = false`
    await sql`set statement_timeout = 0`
    await sql.file(new URL('dispatch.sql', import.meta.url).pathname)
    print(
      `${calls} calls of dispatch() for ${LIMIT} deliveries each: ms a call, WAL and dead rows a delivery`,
    )
    print(header())
    let first: Measured | undefined
    for (const scenario of scenarios(sizes)) {
      const row = await measure(sql, scenario, calls)
      first ??= row
      print(line(scenario.name, row, first))
    }
  } finally {
    await sql.end()
    await pg.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

await main()
