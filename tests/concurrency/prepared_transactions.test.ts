/** PREPARE TRANSACTION refuses a transaction that notified, so on a server that allows it no commit notifies. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import { startPostgres } from '../../supabase/local/postgres/mod.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { publishOne } from './_support/publish.ts'

Deno.test('a transaction that published can be prepared while all workers sleep', async () => {
  await using first = await startTestPostgres({ migrated: true })
  const before = postgres(first.adminDbUrl, { max: 1, onnotice: () => {} })
  await before`alter system set max_prepared_transactions = 2`
  await before.end()
  await first.halt()
  const { dataDir } = first
  const pg = await startPostgres({ dataDir, port: 'free', fsync: false, log: () => {} })
  const admin = postgres(pg.adminDbUrl, { max: 1, onnotice: () => {} })
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  try {
    await admin`select setval('outbox.workers_asleep', 1)`
    await sql`begin`
    const id = await publishOne(sql)
    await sql`prepare transaction 'published'`
    await sql`commit prepared 'published'`
    expect(await sql`select from outbox.unrouted u where u.event_id = ${id}`).toHaveLength(1)
    const [row] = await admin`select s.last_value::integer as asleep from outbox.workers_asleep s`
    expect(row).toEqual({ asleep: 1 })
  } finally {
    await Promise.all([admin.end(), sql.end()])
    await pg.stop()
  }
})
