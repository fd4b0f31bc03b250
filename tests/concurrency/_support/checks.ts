import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import type { Session } from './database.ts'
import { patienceMs } from '../../_support/patience.ts'

const RECOUNT = await Deno.readTextFile(new URL('recount.sql', import.meta.url))

/** Fails unless the counters of gates and lanes equal a count of the deliveries, and every delivery comes to its turn. */
export async function expectExactCounters(sql: Sql): Promise<void> {
  expect([...await sql.unsafe(RECOUNT)]).toEqual([])
}

/** A session that did nothing for so long has ended its call: it will not wait any more. */
const doneMs = 10_000

/** Fails unless `waiting` comes to wait for a lock that `holder` has. */
export async function expectWaitsFor(admin: Sql, waiting: Session, holder: Session): Promise<void> {
  let waits = false
  let idleSince = Infinity
  await waitUntil(async () => {
    const [row] = await admin<{ waits: boolean; idle: boolean }[]>`
      select ${holder.pid}::integer = any (pg_blocking_pids(${waiting.pid}::integer)) as waits,
        exists (select from pg_stat_activity a
          where a.pid = ${waiting.pid}::integer and a.state like 'idle%') as idle`
    waits = row?.waits === true
    idleSince = row?.idle === true ? Math.min(idleSince, performance.now()) : Infinity
    return waits || performance.now() - idleSince > doneMs
  }, { timeoutMs: patienceMs, everyMs: 5 })
  expect(waits).toBe(true)
}

/** How many deadlocks the server has broken up so far. */
export async function deadlocks(admin: Sql): Promise<number> {
  await admin`select pg_stat_clear_snapshot()`
  const [row] = await admin<{ n: number }[]>`
    select d.deadlocks::integer as n from pg_stat_database d where d.datname = current_database()`
  return row?.n ?? NaN
}

/** Fails unless each of `events` was delivered exactly once to each endpoint, and nothing is left open. Operational events do not count. */
export async function expectDeliveredOnce(
  sql: Sql,
  { events, endpoints }: { events: number; endpoints: number },
): Promise<void> {
  const [row] = await sql`
    select count(*)::integer as deliveries, count(distinct a.event_id)::integer as events,
      count(distinct (a.event_id, a.endpoint_id))::integer as pairs,
      (select count(*)::integer from outbox.event e where e.org_id <> 'outhook') as published,
      (select count(*)::integer from outbox.delivery) as open,
      (select count(*)::integer from outbox.unrouted) as unrouted
    from outbox.attempt a where a.kind = 'attempt' and a.outcome = 'delivered'`
  const deliveries = events * endpoints
  expect(row).toEqual({
    deliveries,
    events,
    pairs: deliveries,
    published: events,
    open: 0,
    unrouted: 0,
  })
}
