/** Which statements of Postgres took how long: pg_stat_statements, without those of the bench itself. */

import type { Sql } from 'postgres'

export type Statement = { query: string; calls: number; mean: number; most: number; total: number }

export async function resetStatements(sql: Sql): Promise<void> {
  await sql`select extensions.pg_stat_statements_reset()`
}

/** The statements that took the most time since the reset; times in ms. */
export async function longestStatements(sql: Sql, count: number): Promise<Statement[]> {
  return await sql<Statement[]>`
    select coalesce('outbox.' || substring(s.query from '_result.* from .*outbox"?[.]"?([a-z_]+)'),
        left(regexp_replace(s.query, '\\s+', ' ', 'g'), 70)) as query, s.calls::integer as calls,
      s.mean_exec_time as mean, s.max_exec_time as most, s.total_exec_time as total
    from extensions.pg_stat_statements s
    where s.query !~* 'pg_stat_statements|vacuum|generate_series|quiet\\.done|pg_stat_activity|bench\\.stage'
    order by s.total_exec_time desc limit ${count}`
}

export function statementLine({ query, calls, mean, most, total }: Statement): string {
  return `  ${(total / 1000).toFixed(1)} s in all, at most ${most.toFixed(0)} ms, ` +
    `${mean.toFixed(1)} ms on average of ${calls}: ${query}`
}
