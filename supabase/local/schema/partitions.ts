import { SetupError } from '../errors.ts'
import type { Postgres } from '../postgres/mod.ts'

/** The daily partitions of the schema outbox that are created at run time: all except the default ones. */
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

/** Drops them, so that generated files do not depend on the date. */
export async function dropRunTimePartitions(pg: Postgres): Promise<void> {
  const names = await runTimePartitions(pg)
  if (names.length === 0) return
  const { code, stderr } = await pg.psql(`drop table ${names.join(', ')}`)
  if (code !== 0) throw new SetupError(`Cannot drop the partitions:\n${stderr}`)
}
