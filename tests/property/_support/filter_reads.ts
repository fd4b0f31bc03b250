/** How much work it is to read a filter: the calls of the functions that read it, which Postgres counts. */

import type { Sql } from 'postgres'

/** 1,000 characters, the most that are read, and one that is longer. */
export const longest: readonly string[] = [
  ...[
    '$',
    '@',
    '!',
    '(',
    ')',
    '"',
    '\\"',
    '[',
    '.',
    '*',
    '[*]',
    '.a',
    '1',
    '-',
    ' ',
    '$||',
    '$.a&&',
    '!$||',
    '($)||',
  ],
  ...[
    '$[0]||',
    '$ in (1)||',
    '$[*]?(@)||',
    'exists($)||',
    '(((',
    '!(!(',
    '$ in (',
    '1, ',
    '"a", ',
    '||',
    '\\u0041',
  ],
].flatMap((part) => {
  const text = part.repeat(1_000)
  return [text.slice(0, 1_000), `$.a in (1) || ${text}`.slice(0, 1_000), `$ == "${text}`, text]
})

export type Reads = {
  /** Of the functions in PL/pgSQL; one that raises an error is not counted. */
  calls: number
  /** Of the one that finds all words. */
  scans: number
}

/** The reads of each filter. As the superuser, who may count calls. */
export async function countReads(sql: Sql, filters: readonly string[]): Promise<Reads[]> {
  return await sql.begin(async (tx) => {
    await tx`set local track_functions = 'pl'`
    await tx`
      create function pg_temp.calls_of(p_name text) returns bigint language sql volatile as $$
        select coalesce(sum(f.calls), 0) from pg_stat_xact_user_functions f
        where f.schemaname = 'outbox' and f.funcname like p_name
      $$`
    await tx`
      create function pg_temp.reads_of(p_filter text, out calls integer, out scans integer)
      language plpgsql as $$
      declare
        v_calls bigint := pg_temp.calls_of('%');
        v_scans bigint := pg_temp.calls_of('filter_tokens');
      begin
        begin
          perform outbox.read_filter(p_filter);
        exception when sqlstate 'OH001' then
          null;
        end;
        calls := pg_temp.calls_of('%') - v_calls;
        scans := pg_temp.calls_of('filter_tokens') - v_scans;
      end
      $$`
    const rows = await tx<Reads[]>`
      select r.calls, r.scans
      from unnest(${[...filters]}::text[]) with ordinality as f (filter, n)
      cross join lateral pg_temp.reads_of(f.filter) r
      order by f.n`
    await tx`drop function pg_temp.reads_of, pg_temp.calls_of`
    return [...rows]
  })
}
