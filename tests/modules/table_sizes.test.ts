/** What a pgTAP file analyzes does not change the plans of the next one. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { keepSizes } from '../_run/table_sizes.ts'
import { withMigrations } from '../_support/postgres.ts'

Deno.test('files and the planner forget what a rolled back transaction has inserted and analyzed', async () => {
  await withMigrations(async (pg) => {
    const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
    const sizes = (): Promise<unknown> =>
      sql`
        select c.relname, c.reltuples, c.relpages, pg_relation_size(c.oid) as bytes from pg_class c
        where c.oid in ('outbox.counter_change'::regclass, 'outbox.attempt_default'::regclass,
          'outbox.attempt_default_event_id_idx'::regclass) order by 1`
        .then((rows) => rows.map((row) => ({ ...row })))
    try {
      await pg.psql('alter table outbox.counter_change set (autovacuum_enabled = off)')
      const restore = await keepSizes(pg)
      const before = await sizes()
      await pg.psql(`begin;
        insert into outbox.counter_change (metric, labels, n)
        select 'none', '{}', 1 from generate_series(1, 3000);
        insert into outbox.attempt (event_id, at, attempt, kind, outcome)
        select gen_random_uuid(), '2020-01-01', 1, 'close', 'no_subscriber' from generate_series(1, 3000);
        analyze outbox.counter_change, outbox.attempt;
        rollback;`)
      expect(await sizes()).not.toEqual(before)
      await restore()
      expect(await sizes()).toEqual(before)
    } finally {
      await sql.end()
    }
  })
})
