/** Publishing to a database and counting what reaches the receiver, whichever server has the database. */

import postgres from 'postgres'
import { waitUntil } from '../../../supabase/local/process/wait.ts'
import { patienceMs } from '../../_support/patience.ts'
import type { WorkerProcess } from '../../_support/worker_process.ts'
import type { Receiver } from '../receiver/receiver.ts'

/** Runs one statement as `postgres`, on a connection of its own. */
export async function query(dbUrl: string, text: string): Promise<Record<string, unknown>[]> {
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {} })
  try {
    return [...await sql.unsafe(text)]
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Subscribes the receiver, with this first word of its path, to the types that begin with it. */
export async function subscribe(dbUrl: string, receiver: Receiver, word: string): Promise<void> {
  await query(
    dbUrl,
    `select outbox.set_setting('egress.allow_http', 'true'),
      outbox.set_setting('egress.allow_cidrs', '["127.0.0.0/8"]'),
      outbox.create_endpoint('${receiver.url}/${word}/here', '{${word}.*}')`,
  )
}

/** Publishes `count` events of the type, and returns their ids. */
export async function publish(dbUrl: string, type: string, count = 1): Promise<string[]> {
  const rows = await query(
    dbUrl,
    `select outbox.publish('${type}', '{}') as id from generate_series(1, ${count})`,
  )
  return rows.map(({ id }) => `${id}`)
}

/** How often each event has reached the receiver, once each has reached it. */
export async function arrivals(
  receiver: Receiver,
  ids: readonly string[],
  worker: WorkerProcess,
): Promise<number[]> {
  const count = (): number[] =>
    ids.map((id) => receiver.received.filter(({ headers }) => headers['webhook-id'] === id).length)
  if (await waitUntil(() => count().every((n) => n > 0), { timeoutMs: patienceMs })) return count()
  throw new Error(`${count()} requests came; the worker logged:\n${worker.log.join('\n')}`)
}

/** Waits until no delivery is open, and returns the outcomes of the attempts of these events. */
export async function outcomes(dbUrl: string, ids: readonly string[]): Promise<unknown[]> {
  const list = ids.map((id) => `'${id}'`).join()
  const closed = async (): Promise<boolean> => {
    const [row] = await query(
      dbUrl,
      `select not exists (select from outbox.delivery d where d.event_id in (${list}))
        and not exists (select from outbox.unrouted u where u.event_id in (${list})) as yes`,
    )
    return row?.yes === true
  }
  if (!await waitUntil(closed, { timeoutMs: patienceMs })) throw new Error('still open')
  const rows = await query(
    dbUrl,
    `select outcome from outbox.attempt where event_id in (${list}) order by at`,
  )
  return rows.map(({ outcome }) => outcome)
}

/** What has happened to the binding: each change, and the events that announce a new database. */
export async function history(
  dbUrl: string,
): Promise<{ changes: unknown[]; announced: unknown; problem: unknown }> {
  const changes = await query(
    dbUrl,
    'select action, project, was_project from outbox.binding_change order by id',
  )
  const [row] = await query(
    dbUrl,
    `select outbox.binding_problem(outbox.clock()) as problem, (select count(*)::integer
      from outbox.event where type = 'outhook.database.changed') as announced`,
  )
  return {
    changes: changes.map(({ action, project, was_project }) =>
      [action, project, was_project].filter((word) => word !== null).join(' ')
    ),
    announced: row?.announced,
    problem: row?.problem,
  }
}

/** Waits until the worker logs a line with this text. */
export async function logged(worker: WorkerProcess, text: string): Promise<void> {
  const has = (): boolean => worker.log.some((line) => line.includes(text))
  if (await waitUntil(has, { timeoutMs: patienceMs })) return
  throw new Error(`"${text}" is not in the log of the worker:\n${worker.log.join('\n')}`)
}

/** Ends the worker; resolves with its exit code and the lines that mention a project. */
export async function end(
  worker: WorkerProcess,
): Promise<{ code: number | string; refusals: string[] }> {
  worker.kill('SIGTERM')
  const code = await worker.ended
  return { code, refusals: worker.log.filter((line) => line.includes('belongs to the project')) }
}
