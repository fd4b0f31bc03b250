/** What the database says, read from outside: from its views, receipts and counters. */

import type { TransactionSql } from 'postgres'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import type { Evidence, Views } from './evidence.ts'
import type { Target } from './ledger.ts'
import type { Server } from './server.ts'
import type { World } from './world.ts'

const recount = await Deno.readTextFile(
  new URL('../../concurrency/_support/recount.sql', import.meta.url),
)

/** Waits until all of it has ended, for at most `ms`; says whether it has. */
export async function settle(server: Server, ms: number): Promise<boolean> {
  let isOver = false
  const ask = async (): Promise<boolean> => {
    await server.tell(async (sql) => {
      const [row] = await sql<{ over: boolean }[]>`
        select not exists (select from outbox.delivery_status where open)
          and unrouted = 0 and in_flight = 0 as over
        from outbox.queue_health`
      isOver = row?.over === true
    })
    return isOver
  }
  return await waitUntil(ask, { timeoutMs: ms, everyMs: 250 })
}

/** The evidence of now. */
export async function observe({ server, ledger, workers }: World): Promise<Evidence> {
  return { ledger, died: workers.died, ...await observeServer(server, ledger.targets) }
}

/** What one database says of these endpoints. */
export type Said = Omit<Evidence, 'ledger' | 'died'>

/** Reads all of it from one database in one snapshot. */
export async function observeServer(
  server: Server,
  targets: readonly Pick<Target, 'id'>[],
): Promise<Said> {
  let read: Said | undefined
  await server.surely('reading what the database says', async (sql) => {
    read = await sql.begin(
      'isolation level repeatable read read only',
      (tx) => readAll(tx, targets.map(({ id }) => id)),
    )
  })
  if (read === undefined) throw new Error('nothing was read')
  return read
}

async function readAll(sql: TransactionSql, ours: readonly string[]): Promise<Said> {
  return {
    deliveries: await sql`
      select event_id, endpoint_id, status, held_because, open from outbox.delivery_status
      where endpoint_id = any (${ours}::uuid[])`,
    receipts: await sql`
      select event_id, endpoint_id, attempt, kind, outcome, error_class, resent,
        round(extract(epoch from at) * 1000)::float8 as at
      from outbox.attempt
      where endpoint_id = any (${ours}::uuid[])`,
    letters: await sql`
      select event_id, endpoint_id, why, error from outbox.dead_letter
      where replayed_at is null and discarded_at is null`,
    views: await readViews(sql),
  }
}

async function readViews(sql: TransactionSql): Promise<Views> {
  const [health] = await sql`
    select open::integer, in_flight::integer, unrouted::integer, unroutable::integer,
      set_aside::integer, dead_letters::integer
    from outbox.queue_health`
  const endpoints = await sql<{ id: string; open: number; in_flight: number }[]>`
    select id, open::integer, in_flight::integer from outbox.endpoint_status`
  const counters = await sql<{ outcome: string; n: number }[]>`
    select c -> 1 ->> 1 as outcome, sum((c ->> 2)::integer)::integer as n
    from jsonb_array_elements(outbox.counters()) c where c ->> 0 = 'deliveries' group by 1`
  const miscounted = await sql.unsafe(recount)
  return {
    open: health?.open,
    in_flight: health?.in_flight,
    unrouted: health?.unrouted,
    unroutable: health?.unroutable,
    set_aside: health?.set_aside,
    dead_letters: health?.dead_letters,
    endpoints,
    counted: Object.fromEntries(counters.map(({ outcome, n }) => [outcome, n])),
    miscounted: miscounted.map(({ what, problem }) => `${what} ${problem}`),
  }
}
