/** Whether what is committed survives a power cut, as the servers themselves say. */

import type { Sql } from 'postgres'

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
