/** Fills a side's tables in bulk, as if so much had been published, or delivered, before. */

import postgres from 'postgres'
import { fileURLToPath } from 'node:url'
import { eventOf, typeOf } from '../sides/_event.ts'
import { type Bench, urlOf } from '../run/bench.ts'
import type { SideSpec } from '../sides/catalog.ts'

export interface LoadSize {
  count: number
  endpoints: number
}

export type Loader = (bench: Bench, spec: SideSpec, size: LoadSize) => Promise<void>

/** The text before and after the number in an event's data. */
function around(text: string): [string, string] {
  const at = text.lastIndexOf('00000000')
  return [text.slice(0, at), text.slice(at + 8)]
}

async function runFile(bench: Bench, name: string): Promise<void> {
  await bench.server.sql.file(fileURLToPath(new URL(name, import.meta.url)))
}

/** Deliveries 0 to `count` that wait since an hour ago, each of an event of its own. */
export async function loadWaiting(
  bench: Bench,
  _spec: SideSpec,
  { count, endpoints }: LoadSize,
): Promise<void> {
  const [head, tail] = around(eventOf(0, endpoints).data)
  await runFile(bench, 'load.sql')
  await bench.server.sql`call bench.load_waiting(${count}, ${endpoints}, ${head}, ${tail})`
  for (const table of ['event', 'gate', 'lane', 'delivery']) {
    await bench.server.sql.unsafe(`vacuum analyze outbox.${table}`)
  }
}

/** Attempts of deliveries that ended today. */
export async function loadFinished(
  bench: Bench,
  _spec: SideSpec,
  { count }: LoadSize,
): Promise<void> {
  await runFile(bench, 'load.sql')
  await bench.server.sql`call bench.load_finished(${count})`
  await bench.server.sql.unsafe('vacuum analyze outbox.attempt')
}

/** graphile-worker's jobs 0 to `count`. */
export async function loadGraphile(
  bench: Bench,
  spec: SideSpec,
  { count, endpoints }: LoadSize,
): Promise<void> {
  const sql = postgres(urlOf(bench.server, spec), { max: 1, onnotice: () => {} })
  const { id, body } = eventOf(0, endpoints)
  try {
    await sql`set statement_timeout = 0`
    // One real job makes the task known.
    await sql`select graphile_worker.add_job('deliver')`
    await sql`delete from graphile_worker._private_jobs where true`
    await sql`
      insert into graphile_worker._private_jobs (task_id, payload, run_at, created_at, updated_at)
      select t.id,
        json_build_object('id', e.id, 'type', e.type, 'endpoint', e.n % ${endpoints}::int, 'body',
          replace(replace(replace(${body}, ${id}, e.id), ${typeOf(0)}, e.type),
            '"n":"00000000"', '"n":"' || lpad(e.n::text, 8, '0') || '"')),
        now() - interval '1 hour', now(), now()
      from graphile_worker._private_tasks t, lateral (
        select n, left(${id}, -12) || lpad(n::text, 12, '0') as id,
          'bench.e' || lpad((n % ${endpoints}::int)::text, 5, '0') as type
        from generate_series(0, ${count}::int - 1) n) e
      where t.identifier = 'deliver'`
    await sql`vacuum analyze graphile_worker._private_jobs`
  } finally {
    await sql.end()
  }
}
