/** A server without transaction ids: the run waits with its results, which are recorded when there are ids again. */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import type { Result } from '../../functions/_shared/contract/contract.ts'
import { connectDirect } from '../../functions/_shared/database/direct.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { setTransactionId } from '../_support/transaction_ids.ts'

/** From the oldest row on, the server assigns so many ids: three millions less than half of all. */
const most = 2 ** 31 - 1 - 3_000_000
/** What its start may need. */
const reserve = 300
const slot = 'nobody_reads_it'

let pg: TestPostgres
let sql: Sql

function connect(): Sql {
  return postgres(pg.adminDbUrl, { max: 1, onnotice: () => {} })
}

Deno.test.beforeAll(async () => {
  pg = await startTestPostgres({ migrated: true })
  sql = connect()
  // Otherwise only autovacuum can vacuum it, after a while.
  await sql`alter database template0 allow_connections true`
  // Its tick would claim, too.
  await sql`select cron.alter_job(jobid, active => false) from cron.job`
})
Deno.test.afterAll(async () => {
  await sql?.end()
  await pg?.stop()
})

/** Whether SQL takes an error with this code for a temporary one of the server. */
async function isPassing(): Promise<boolean> {
  const [row] = await sql<{ passes: boolean }[]>`select outbox.is_passing('54000') as passes`
  return row?.passes ?? false
}

/** Restarts the server just before its last id, and uses that up. */
async function useUpIds(): Promise<void> {
  const [row] = await sql<{ oldest: string }[]>`
    select min(datfrozenxid::text::bigint) as oldest from pg_database`
  await sql.end()
  pg = await setTransactionId(pg, Number(row?.oldest) + most - reserve)
  sql = connect()
  const useOne = (): Promise<boolean> =>
    sql`select pg_current_xact_id()`.then(() => true, (error) => {
      expect(error).toMatchObject({ code: '54000', routine: 'GetNewTransactionId' })
      return false
    })
  for (let used = 0; await useOne(); used++) expect(used).toBeLessThan(2 * reserve)
}

/** Lets the server free ids again. */
async function freeIds(): Promise<void> {
  await sql`select pg_drop_replication_slot(${slot})`
  for (const { datname } of await sql`select datname from pg_database`) {
    const one = postgres(pg.adminDbUrl.replace(/\/postgres(\?|$)/, `/${datname}$1`), {
      max: 1,
      onnotice: () => {},
    })
    // To cut off the end of a table, it would need a transaction id.
    await one`vacuum (freeze, truncate off)`
    await one.end()
  }
}

Deno.test('a value that is too long is an error of its row, and not one of the server', async () => {
  await sql`create table public.long (a text)`
  await sql`create index on public.long (a)`
  const insert = sql`insert into public.long
    select string_agg(md5(n::text), '') from generate_series(1, 1000) n`
  const error = await insert.then(() => null, (error) => error)
  expect(error).toMatchObject({ code: '54000' })
  expect(await isPassing()).toBe(false)
})

Deno.test('results wait while the server has no transaction ids, and are recorded afterwards', async () => {
  await sql`select outbox.create_endpoint('https://example.com/hook', '{*}')`
  await sql`select outbox.publish('order.paid', '{}')`
  await sql`select pg_create_logical_replication_slot(${slot}, 'test_decoding')`
  const before = connectDirect({ url: pg.dbUrl })
  const call = {
    run: crypto.randomUUID(),
    seq: 1,
    results: [] as Result[],
    limit: 10,
    kind: 'worker' as const,
    ended: false,
    known: {},
    held: 0,
  }
  const claimed = await before.dispatch(call)
  if (!claimed.ok) throw new Error(claimed.fault.message)
  await before.close()
  const [delivery] = claimed.response.deliveries
  if (delivery === undefined) throw new Error('nothing was claimed')
  const { event, endpoint, attempt } = delivery
  const results = [{ event, endpoint, attempt, outcome: 'delivered' as const, duration_ms: 1 }]
  await useUpIds()
  const database = connectDirect({ url: pg.dbUrl })
  try {
    const refused = await database.dispatch({ ...call, seq: 2, results })
    expect(refused).toMatchObject({ ok: false, fault: { code: '54000', kind: 'temporary' } })
    expect(await isPassing()).toBe(true)
    await freeIds()
    const isTaken = async (): Promise<boolean> =>
      (await database.dispatch({ ...call, seq: 2, results })).ok
    expect(await waitUntil(isTaken, { timeoutMs: patienceMs, everyMs: 500 })).toBe(true)
    expect(await isPassing()).toBe(false)
    const attempts = await sql`select outcome from outbox.attempt`
    expect(attempts).toEqual([{ outcome: 'delivered' }])
  } finally {
    await database.close()
  }
})
