import postgres, { type Sql } from 'postgres'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'

/**
 * Remembers how large tables and indexes are; what it returns makes them as large again, once a test is rolled back.
 * A rollback leaves both sizes as they are: that of the file, whose rows are dead, and that which the planner knows,
 * because ANALYZE writes it in place (`vac_update_relstats()`). Only tables that were empty get new files. A rollback
 * does not restore sequences either: they get their values again.
 */
export async function keepSizes(pg: Postgres): Promise<() => Promise<void>> {
  const sizes = await asAdmin((sql) =>
    sql`
    select jsonb_agg(jsonb_build_object('oid', c.oid::bigint, 'relpages', c.relpages,
      'reltuples', c.reltuples, 'relallvisible', c.relallvisible,
      'empty', c.relkind = 'r' and pg_relation_size(c.oid) = 0)) as all
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    -- Also the queue of pg_net, whose size decides whether it is read.
    where n.nspname in ('outbox', 'net')`
  )
  const sequences = await asAdmin((sql) =>
    sql`
    select jsonb_agg(jsonb_build_object('oid', s.seqrelid::bigint, 'start', s.seqstart,
      'last', pg_sequence_last_value(s.seqrelid))) as all
    from pg_sequence s join pg_class c on c.oid = s.seqrelid
    where c.relnamespace = 'outbox'::regnamespace`
  )
  return async () => {
    await asAdmin(async (sql) => {
      await sql`
        select setval(s.oid::oid::regclass, coalesce(s.last, s.start), s.last is not null)
        from jsonb_to_recordset(${sequences[0]?.all}) as s (oid bigint, start bigint, last bigint)
        where pg_sequence_last_value(s.oid::oid::regclass) is distinct from s.last`
      const grown = await sql<{ name: string }[]>`
        with recursive empty as (
          select s.oid::oid from jsonb_to_recordset(${
        sizes[0]?.all
      }) as s (oid bigint, empty boolean)
          where s.empty
        ),
        -- A table is truncated together with those that have a foreign key to it.
        grown as (
          select e.oid from empty e where pg_relation_size(e.oid) > 0
          union
          select f.conrelid from grown g join pg_constraint f on f.confrelid = g.oid and f.contype = 'f'
        )
        select g.oid::regclass::text as name from grown g
        where not exists (select from grown o where o.oid not in (select e.oid from empty e))`
      const names = grown.map(({ name }) => name).join(', ')
      if (names !== '') {
        await sql.unsafe(`
          begin; set local session_replication_role = 'replica'; truncate ${names}; commit`)
      }
      await sql`
        update pg_class c set
          relpages = s.relpages, reltuples = s.reltuples, relallvisible = s.relallvisible
        from jsonb_to_recordset(${sizes[0]?.all}) as s (
          oid bigint, relpages integer, reltuples real, relallvisible integer)
        where c.oid = s.oid::oid
          and (c.relpages, c.reltuples, c.relallvisible)
            is distinct from (s.relpages, s.reltuples, s.relallvisible)`
    })
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
