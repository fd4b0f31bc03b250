/** What calls of dispatch() take, claim after claim, as the procedures of dispatch.sql note it. */

import type { Sql } from 'postgres'

/** How many deliveries a call has room for. */
export const LIMIT = 400
const WARM_UP = 50

/** Some calls: ms a call; WAL bytes and dead rows a delivery. */
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
      (sum(c.hot_updates) / sum(c.updates))::float8 as hot, sum(c.seq_scans)::float8 as seq_scans
    from bench.call c`
  if (row === undefined) throw new Error('nothing was measured')
  return row
}

/** The heading of a table of them. */
export function header(): string {
  return `| ${
    'backlog'.padEnd(40)
  } | claimed | gates |   p50 |   p95 | cpu 50 | cpu 95 | x p95 | x cpu | WAL B | dead | HOT % | seq |`
}

/** One of its lines, with the ratios of p95 and of what p95 computed to those of the first. */
export function line(name: string, row: Measured, first: Measured): string {
  const cells = [
    name.padEnd(40),
    row.claimed.toFixed(0).padStart(7),
    row.gates.toFixed(0).padStart(5),
    row.p50.toFixed(1).padStart(5),
    row.p95.toFixed(1).padStart(5),
    (row.cpu50?.toFixed(1) ?? '').padStart(6),
    (row.cpu95?.toFixed(1) ?? '').padStart(6),
    (row.p95 / first.p95).toFixed(2).padStart(5),
    (row.cpu95 !== null && first.cpu95 !== null ? (row.cpu95 / first.cpu95).toFixed(2) : '')
      .padStart(5),
    row.wal.toFixed(0).padStart(5),
    row.dead.toFixed(2).padStart(4),
    (100 * row.hot).toFixed(1).padStart(5),
    row.seq_scans.toFixed(0).padStart(3),
  ]
  return `| ${cells.join(' | ')} |`
}
