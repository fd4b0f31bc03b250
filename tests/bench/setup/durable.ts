/** Whether what is committed survives a power cut, as the servers themselves say. */

import postgres, { type Sql } from 'postgres'

/** What a Postgres server says of itself. */
export interface DurableSettings {
  fsync: string
  synchronous_commit: string
  full_page_writes: string
}

/** The problems of these settings; none when commits are durable. */
export function durabilityProblems(settings: DurableSettings): string[] {
  return Object.entries(settings)
    .filter(([, value]) => value !== 'on')
    .map(([name, value]) => `${name} is ${value}, not on: commits would not be durable`)
}

/** As a session that connects anew in that database gets them. */
export async function readDurability(sql: Sql): Promise<DurableSettings> {
  const [row] = await sql<DurableSettings[]>`
    select current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('full_page_writes') as full_page_writes`
  if (row === undefined) throw new Error('the server does not tell its settings')
  return row
}

/**
 * Unlogged as they are installed: the status of runs, refusals of runs and of the periodic work, the progress of
 * the cleanup, the kinds that no run can send, and the requests of pg_net. They store no delivery.
 */
const WITHOUT_DELIVERIES = [
  ...['outbox.run', 'outbox.run_batch', 'outbox.request_bucket', 'outbox.contract_refusal'],
  ...['outbox.binding_refusal', 'outbox.cleanup_progress', 'outbox.isolation'],
  ...['outbox.upkeep_refusal', 'outbox.waiting_kind'],
  ...['net.http_request_queue', 'net._http_response'],
]

/** Throws unless what a side commits at that address, as its user and in its database, survives. */
export async function requireDurable(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    const problems = durabilityProblems(await readDurability(sql))
    const unlogged = await sql<{ name: string }[]>`
      select relnamespace::regnamespace || '.' || relname as name from pg_class
      where relkind = 'r' and relpersistence = 'u' order by 1`
    for (const { name } of unlogged) {
      if (!WITHOUT_DELIVERIES.includes(name)) problems.push(`the table ${name} is unlogged`)
    }
    if (problems.length > 0) throw new Error(problems.join('; '))
  } finally {
    await sql.end()
  }
}
