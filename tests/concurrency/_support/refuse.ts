import type { Sql } from 'postgres'

export type Operation = 'insert' | 'update' | 'delete'

/**
 * Makes a table refuse every row that names `endpoint`, or a lane of its gate, in one kind of
 * statement, with the SQLSTATE `code`. `allow()` undoes it.
 */
export async function refuse(
  sql: Sql,
  { table, operation, endpoint, code = 'P0001' }: {
    table: string
    operation: Operation
    endpoint: string
    code?: string
  },
): Promise<void> {
  await sql`create table public.refused as
    select ${endpoint}::text as endpoint, g.id::text as gate
    from outbox.gate g where g.endpoint_id = ${endpoint}`
  await sql.unsafe(`
    create function public.refuse() returns trigger language plpgsql security definer as $$
    declare
      v_row jsonb := to_jsonb(case when tg_op = 'DELETE' then old else new end);
    begin
      if exists (
        select from public.refused r
        where v_row::text like '%' || r.endpoint || '%' or v_row ->> 'gate_id' = r.gate)
      then
        raise exception using errcode = '${code}', message = 'no row of this endpoint';
      end if;
      return case when tg_op = 'DELETE' then old else new end;
    end $$`)
  await sql.unsafe(
    `create trigger refuse before ${operation} on outbox.${table}
     for each row execute function public.refuse()`,
  )
}

/** Lets the table take every row again. */
export async function allow(sql: Sql): Promise<void> {
  await sql`drop function public.refuse() cascade`
  await sql`drop table public.refused`
}
