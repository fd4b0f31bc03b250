/** What calls of dispatch() take, claim after claim, as the procedures of dispatch.sql note it. */

import type { Sql } from 'postgres'
import type { Column, Row } from '../questions/_question.ts'

/** How many deliveries a call has room for. */
export const LIMIT = 400
const WARM_UP = 50

/** Some calls: ms a call; WAL bytes, dead rows and scans of indexes a delivery. */
export interface Measured {
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
  lookUps: number
  seq_scans: number
}

/** Makes so many calls, after some that do not count. */
export async function measureCalls(sql: Sql, calls: number): Promise<Measured> {
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
      (sum(c.hot_updates) / sum(c.updates))::float8 as hot, (sum(c.look_ups) / sum(c.claimed))::float8 as "lookUps", sum(c.seq_scans)::float8 as seq_scans
    from bench.call c`
  if (row === undefined) throw new Error('nothing was measured')
  return row
}

export const columns: Column[] = [
  { key: 'claimed', label: 'claimed', digits: 0 },
  { key: 'gates', label: 'gates', digits: 0 },
  { key: 'p50', label: 'p50 ms', digits: 1 },
  { key: 'p95', label: 'p95 ms', digits: 1 },
  { key: 'toFirst', label: '× p95', digits: 2 },
  { key: 'cpu50', label: 'CPU p50 ms', digits: 1 },
  { key: 'cpu95', label: 'CPU p95 ms', digits: 1 },
  { key: 'wal', label: 'WAL bytes', digits: 0 },
  { key: 'dead', label: 'dead rows', digits: 2 },
  { key: 'lookUps', label: 'look-ups', digits: 1 },
  { key: 'hot', label: 'HOT %', digits: 1 },
  { key: 'seqScans', label: 'seq. scans', digits: 0 },
]

/** A line of a table with these columns; the ratio is of its p95 to that of `first`. */
export function rowOf(series: string, measured: Measured, first: Measured): Row {
  const { seq_scans: seqScans, hot, ...rest } = measured
  return {
    series,
    values: { ...rest, seqScans, hot: 100 * hot, toFirst: measured.p95 / first.p95 },
  }
}
