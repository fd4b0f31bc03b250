import { expect } from '@std/expect'
import type { Postgres } from '../../supabase/local/postgres/mod.ts'

/**
 * Builds the indexes that partitions lack, as the cleanup of the next nights does. Each of the two days leaves out
 * its own partition.
 */
export async function buildIndexes(pg: Pick<Postgres, 'psql'>): Promise<void> {
  const { code, stderr } = await pg.psql(`
    do $$
    begin
      while outbox.build_index(now() + interval '2 days', 1) > 0 loop
      end loop;
      while outbox.build_index(now() + interval '4 days', 1) > 0 loop
      end loop;
    end
    $$`)
  expect([code, stderr]).toEqual([0, ''])
}
