/** An endpoint that never answers, with a backlog behind it. */

import type { Report } from '../receiver.ts'
import type { Bench } from '../run/bench.ts'

export interface Hanging {
  /** Its deliveries are held. */
  pause(): Promise<void>
  /** They are sent again, with its breaker as if nothing had happened. */
  resume(): Promise<void>
  /** Throws when nothing hung: then the rounds compared nothing. */
  requireHung(): Promise<void>
}

/** Makes the endpoint with the settings of any new one, paused, and loads so many deliveries. */
export async function hangingBacklog(
  { server, receiver, origin, secret }: Bench,
  count: number,
): Promise<Hanging> {
  const { sql } = server
  await sql`drop schema if exists bench cascade`
  await sql.file(new URL('./load.sql', import.meta.url).pathname)
  const [made] = await sql<{ id: string }[]>`
    select outbox.create_endpoint(${`${origin}/hang`}, '{bench.hang}', p_secret => ${secret})
      ->> 'id' as id`
  const id = made?.id ?? ''
  const pause = async (): Promise<void> => void await sql`select outbox.pause_endpoint(${id})`
  await pause()
  await sql`call bench.load_hanging(${id}, ${count})`
  for (const table of ['event', 'delivery']) await sql.unsafe(`vacuum analyze outbox.${table}`)
  return {
    pause,
    resume: async () => {
      await sql`select outbox.resume_endpoint(${id})`
    },
    requireHung: async () => {
      const { hanging } = await receiver.ask<Report>({ do: 'report' })
      if (hanging === 0) throw new Error('no delivery hung in the last round')
    },
  }
}
