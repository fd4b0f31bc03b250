import { SetupError } from '../errors.ts'
import type { Postgres } from '../postgres/mod.ts'

/**
 * The partitions of the schema outbox that are made at run time, a day each: all but the default.
 */
export async function runTimePartitions(pg: Postgres): Promise<string[]> {
  const { code, stdout, stderr } = await pg.psql(`
    select c.oid::regclass
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where c.relkind = 'r' and c.relnamespace = 'outbox'::regnamespace
      and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT'
    order by 1`)
  if (code !== 0) throw new SetupError(`Cannot list the partitions:\n${stderr}`)
  return stdout.split('\n').filter((name) => name !== '')
}

/** Drops them, so that what is generated from a throw-away database is the same on every day. */
export async function dropRunTimePartitions(pg: Postgres): Promise<void> {
  const names = await runTimePartitions(pg)
  if (names.length === 0) return
  const { code, stderr } = await pg.psql(`drop table ${names.join(', ')}`)
  if (code !== 0) throw new SetupError(`Cannot drop the partitions:\n${stderr}`)
}
