import postgres, { type Sql } from 'postgres'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'

/**
 * Remembers how large the planner takes the tables and indexes to be; what it returns sets them to that again. A file
 * that analyzes a table leaves its size behind: Postgres writes it in place (`vac_update_relstats()`), so a rollback
 * does not restore it.
 */
export async function keepSizes(pg: Postgres): Promise<() => Promise<void>> {
  const sizes = await asAdmin((sql) =>
    sql`
    select jsonb_agg(jsonb_build_object('oid', c.oid::bigint, 'relpages', c.relpages,
      'reltuples', c.reltuples, 'relallvisible', c.relallvisible)) as all
    from pg_class c where c.relnamespace = 'outbox'::regnamespace`
  )
  return async () => {
    await asAdmin((sql) =>
      sql`
      update pg_class c set
        relpages = s.relpages, reltuples = s.reltuples, relallvisible = s.relallvisible
      from jsonb_to_recordset(${sizes[0]?.all}) as s (
        oid bigint, relpages integer, reltuples real, relallvisible integer)
      where c.oid = s.oid::oid
        and (c.relpages, c.reltuples, c.relallvisible)
          is distinct from (s.relpages, s.reltuples, s.relallvisible)`
    )
  }

  async function asAdmin<T>(use: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = postgres(pg.adminDbUrl, { max: 1, onnotice: () => {} })
    try {
      return await use(sql)
    } finally {
      await sql.end()
    }
  }
}
