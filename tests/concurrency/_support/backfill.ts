/** Steps of backfills, as the job of the tick executes them. */

import type { OutboxDatabase, Session } from './database.ts'

/** Ends the second of a new job, and executes its first step. */
export async function beginBackfill(db: OutboxDatabase, owner: Session): Promise<void> {
  await db.admin`update outbox.replay_job set created_at = created_at - interval '2 s' where true`
  await workBackfills(db, owner)
}

/** One step of each backfill, each in its transaction, as in the next second. */
export async function workBackfills(db: OutboxDatabase, { sql }: Session): Promise<void> {
  await nextBackfillSecond(db)
  const [now] = await sql<{ at: Date }[]>`select outbox.clock() as at`
  while (await backfillStep(sql, now?.at)) continue
}

/** One step of the backfill whose turn it is; false if there is none. */
export async function backfillStep(sql: Session['sql'], at: Date = new Date()): Promise<boolean> {
  const [row] = await sql<{ done: boolean }[]>`
    select outbox.work_backfills(${at}::timestamptz) as done`
  return row?.done === true
}

/** Lets each running job have another step. */
export async function nextBackfillSecond(db: OutboxDatabase): Promise<void> {
  await db.admin`
    update outbox.replay_job set worked_at = worked_at - interval '1 s' where status = 'running'`
}

/** The progress of the last job. */
export async function backfillProgress(db: OutboxDatabase): Promise<unknown> {
  const [row] = await db.admin`
    select j.status, j.replayed::integer, j.looked::integer from outbox.replay_job j
    order by j.id desc limit 1`
  return row
}
