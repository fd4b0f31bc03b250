import { expect } from '@std/expect'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'

/** Builds the indexes that partitions lack, as the cleanup of the next nights does. */
export async function buildIndexes(pg: Pick<Postgres, 'psql'>): Promise<void> {
  const { code, stderr } = await pg.psql(`
    do $$
    begin
      while outbox.build_index(now() + interval '10 days', 1) > 0 loop
      end loop;
    end
    $$`)
  expect([code, stderr]).toEqual([0, ''])
}
