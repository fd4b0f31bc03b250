/** What a pgTAP file analyzes does not change the plans of the next one. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { keepSizes } from '../_run/table_sizes.ts'
import { withMigrations } from '../_support/postgres.ts'

Deno.test('the planner forgets what a rolled back transaction has analyzed', async () => {
  await withMigrations(async (pg) => {
    const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
    const sizes = (): Promise<unknown> =>
      sql`
        select c.relname, c.reltuples, c.relpages from pg_class c
        where c.oid = 'outbox.counter_change'::regclass order by 1`
        .then((rows) => rows.map((row) => ({ ...row })))
    try {
      await pg.psql('alter table outbox.counter_change set (autovacuum_enabled = off)')
      const restore = await keepSizes(pg)
      const before = await sizes()
      await pg.psql(`begin;
        insert into outbox.counter_change (metric, labels, n)
        select 'none', '{}', 1 from generate_series(1, 3000);
        analyze outbox.counter_change;
        rollback;`)
      expect(await sizes()).not.toEqual(before)
      await restore()
      expect(await sizes()).toEqual(before)
    } finally {
      await sql.end()
    }
  })
})
