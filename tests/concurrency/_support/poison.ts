import type { Sql } from 'postgres'

/**
 * Makes a delivery of `event` impossible: its insert raises, or takes `seconds` and then goes on.
 * `endpoint` narrows it to one endpoint. Each other event takes `others` seconds. `antidote()` undoes it.
 */
export async function poison(
  sql: Sql,
  { event, endpoint = null, seconds = 0, others = 0 }: {
    event: string
    endpoint?: string | null
    seconds?: number
    others?: number
  },
): Promise<void> {
  await sql`create table public.poison as
    select ${event}::uuid as event_id, ${endpoint}::uuid as endpoint_id, ${seconds}::float8 as seconds,
      ${others}::float8 as others`
  await sql`
    create function public.poison() returns trigger language plpgsql as $$
    declare
      v_poison public.poison;
    begin
      select * into v_poison from public.poison p
      where p.event_id = new.event_id and coalesce(p.endpoint_id, new.endpoint_id) = new.endpoint_id;
      if found and v_poison.seconds = 0 then
        raise exception 'this event is poison';
      elsif found then
        perform pg_sleep(v_poison.seconds);
      else
        perform pg_sleep(p.others) from public.poison p where p.others > 0;
      end if;
      return new;
    end $$`
  await sql`create trigger poison before insert on outbox.delivery for each row execute function public.poison()`
}

/** Takes the poison away. */
export async function antidote(sql: Sql): Promise<void> {
  await sql`drop trigger poison on outbox.delivery`
  await sql`drop function public.poison()`
  await sql`drop table public.poison`
}
