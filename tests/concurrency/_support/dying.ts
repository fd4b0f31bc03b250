/** Calls that die at the n-th row that they change, and what the tables hold then. */

import type { Sql } from 'postgres'

/** The death of the process: from then on, every change of the call raises, whatever a handler catches. */
const DEATH = 'XX000'
/** Begins the warning that names the change at which a call died. */
const SIGN = 'died at '

/** The tables of the schema, a partitioned one as a whole. */
const tables = `
  select c.oid, c.relname::text as name from pg_class c
  where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`

/** Gives every table a trigger that raises at a change of a row of the schema, for die() to aim at. */
export async function makeMortal(owner: Sql): Promise<void> {
  await owner.unsafe(`
    create sequence public.changes;
    create function public.die() returns trigger language plpgsql as $$
    declare
      v_at bigint := nullif(nullif(current_setting('test.die_at', true), ''), '0')::bigint;
      v_change bigint := nextval('public.changes');
    begin
      if v_change = v_at then
        raise warning '${SIGN}% %', lower(tg_op), regexp_replace(tg_table_name, '_(p[0-9]{8}|default)$', '');
      end if;
      if v_change = v_at or v_change > v_at and current_setting('test.die_of', true) = '${DEATH}' then
        raise exception 'no further change' using errcode = current_setting('test.die_of');
      end if;
      return case when tg_op = 'DELETE' then old else new end;
    end $$;
    -- Everything that the tables hold, but for the time by the wall and how far the server has come.
    create function public.all_rows() returns jsonb language plpgsql as $$
    declare
      v_name text;
      v_rows jsonb;
      v_all jsonb := '{}';
    begin
      for v_name in select t.name from (${tables}) t order by 1 loop
        execute format(
          'select coalesce(jsonb_agg(to_jsonb(t) - %L), ''[]'') from outbox.%I t',
          case v_name when 'counter_change' then 'at' when 'router' then 'seen_below' else '' end, v_name) into v_rows;
        v_all := v_all || jsonb_build_object(v_name, v_rows);
      end loop;
      return v_all;
    end $$`)
  for (const { name } of await owner.unsafe<{ name: string }[]>(tables)) {
    await owner.unsafe(`
      create trigger die before insert or update or delete on outbox."${name}"
      for each row execute function public.die()`)
  }
}

/** Makes the change number `at` raise, from here on; null: none does. `of` is the SQLSTATE. */
export async function dieAt(sql: Sql, at: number | null, of = DEATH): Promise<void> {
  await sql`
    select set_config('test.die_at', ${`${at ?? 0}`}, true), set_config('test.die_of', ${of}, true),
      setval('public.changes', 1, false)`
}

/** At which change the call after the first `since` warnings died, such as `insert event`; null: it did not. */
export function placeOfDeath(warnings: readonly string[], since: number): string | null {
  const sign = warnings.slice(since).find((warning) => warning.startsWith(SIGN))
  return sign?.slice(SIGN.length) ?? null
}

/** Where each sequence of the schema stands: no rollback puts one back. */
export async function sequences(sql: Sql): Promise<() => Promise<void>> {
  const rows = await sql<{ name: string }[]>`
    select s.schemaname || '.' || s.sequencename as name from pg_sequences s where s.schemaname = 'outbox'`
  const stand: { name: string; last: string; called: boolean }[] = []
  for (const { name } of rows) {
    const [row] = await sql.unsafe(
      `select last_value::text as last, is_called as called from ${name}`,
    )
    stand.push({ name, last: row?.last, called: row?.called })
  }
  return async () => {
    await sql`
      select setval(s.name::regclass, s.last::bigint, s.called)
      from jsonb_to_recordset(${sql.json(stand)}) s (name text, last text, called boolean)`
  }
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/** Every row as text, by table; an id that was made since `known` is as good as any other. */
export async function allRows(sql: Sql, known: Set<string>): Promise<Record<string, string[]>> {
  const [row] = await sql<{ all: Record<string, unknown[]> }[]>`select public.all_rows() as all`
  const plain = (value: unknown): string =>
    JSON.stringify(value).replace(UUID, (id) => known.has(id) ? id : 'new')
  return Object.fromEntries(
    Object.entries(row?.all ?? {}).map(([name, rows]) => [name, rows.map(plain).sort()]),
  )
}

/** Every id that there is. */
export async function knownIds(sql: Sql): Promise<Set<string>> {
  const [row] = await sql<{ all: string }[]>`select public.all_rows()::text as all`
  return new Set(row?.all.match(UUID))
}

/** The rows that two readings do not have in common. */
export function differences(
  one: Record<string, string[]>,
  other: Record<string, string[]>,
): string[] {
  return Object.entries(one).flatMap(([name, rows]) => {
    const rest = [...other[name] ?? []]
    const only = rows.filter((row) => {
      const at = rest.indexOf(row)
      if (at >= 0) rest.splice(at, 1)
      return at < 0
    })
    return [...only.map((row) => `- ${name} ${row}`), ...rest.map((row) => `+ ${name} ${row}`)]
  })
}
