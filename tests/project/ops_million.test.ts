/** The console kit with a million open deliveries and a million attempts: what it touches is bounded. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { withMigrations } from '../_support/postgres.ts'
import { opsQueries } from '../_support/ops.ts'
import { docsBlock } from './_docs.ts'

const fixture = new URL('./_ops_million.sql', import.meta.url)
const midnight = new URL('./_ops_midnight.sql', import.meta.url)

/** Rows read for one query, of 1,001 endpoints; and what an event that 1,000 endpoints want adds. */
const mostRows = 150_000
const growing = ['delivery', 'attempt', 'dead_letter', 'outbound_message']

/**
 * Rows read and sequential scans, by table; partitions of a day count as their table. DEFAULT, of
 * which 10,000 rows are counted as they lie, counts as a table of its own.
 */
const usage = `
  select json_object_agg(u.name, json_build_array(u.rows, u.scans))
  from (
    select regexp_replace(s.relname, '_p[0-9]{8}$', '') as name,
      sum(coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0)) as rows,
      sum(coalesce(s.seq_tup_read, 0)) as scans
    from pg_stat_xact_user_tables s where s.schemaname = 'outbox' group by 1
  ) u`

/** The kit, and the README's look at the newest deliveries, by their names. */
const queries = new Map([['look', docsBlock('look')]])
for (const path of opsQueries) {
  queries.set(path, await Deno.readTextFile(join(projectRoot, path)))
}

async function measure(pg: Postgres, path: string): Promise<Record<string, [number, number]>> {
  const text = queries.get(path)
  const { code, stdout, stderr } = await pg.psql(`
    select id as event from outbox.event order by id limit 1 \\gset
    begin read only;
    set local statement_timeout = '10s';
    set local outhook.endpoint = 'example.com/7';
    set local outhook.event = :'event';
    set local outhook.message = 'wamid.77';
    set local outhook.org = 'org-1';
    \\o /dev/null
    ${text}
    \\o
    ${usage};
    rollback;`)
  if (code !== 0) throw new Error(`${path}: ${stderr}`)
  return JSON.parse(stdout)
}

async function load(pg: Postgres, file: URL, variables: string[] = []): Promise<void> {
  const loaded = await pg.psql(await Deno.readTextFile(file), {
    args: variables.flatMap((one) => ['-v', one]),
  })
  expect(loaded.stderr).toBe('')
  const there = await pg.psql(
    'select (select count(*) from outbox.delivery), (select count(*) from outbox.attempt)',
  )
  expect(there.stdout).toBe('1020000|1000500')
}

async function expectLittle(pg: Postgres, path: string): Promise<void> {
  const tables = await measure(pg, path)
  const rows = Object.values(tables).reduce((sum, [read]) => sum + read, 0)
  expect({ rows, isFew: rows <= mostRows }).toEqual({ rows, isFew: true })
  for (const name of growing) expect([name, tables[name]?.[1] ?? 0]).toEqual([name, 0])
}

Deno.test('console queries read little of a million deliveries and a million attempts', async (t) => {
  await withMigrations(async (pg) => {
    await load(pg, fixture)
    for (const path of queries.keys()) await t.step(path, () => expectLittle(pg, path))
    await load(pg, midnight, ['since=10 minutes'])
    for (const path of queries.keys()) {
      await t.step(`${path} at 00:10`, () => expectLittle(pg, path))
    }
    await load(pg, midnight, ['since='])
    for (const path of queries.keys()) {
      await t.step(`${path} without a partition`, () => expectLittle(pg, path))
    }
  })
})
