/** An endpoint that never answers, with a backlog behind it. */

import type { Report } from '../receiver.ts'
import type { Bench } from '../run/bench.ts'

export interface Hanging {
  /** Holds its deliveries, and waits until none hangs. */
  pause(): Promise<void>
  /** Has them sent again, as if the endpoint were met for the first time: all of its slots hang. */
  resume(): Promise<void>
  /** How many requests hang now. */
  hung(): Promise<number>
}

/** After this its requests are given up, so that a round without it can follow. */
const TIMEOUT_MS = 10_000

/** Makes the endpoint with the settings of any new one, the timeout aside, paused, and loads so many deliveries. */
export async function hangingBacklog(
  { server, receiver, origin, secret }: Bench,
  count: number,
): Promise<Hanging> {
  const { sql } = server
  await sql`drop schema if exists bench cascade`
  await sql.file(new URL('./load.sql', import.meta.url).pathname)
  const [made] = await sql<{ id: string }[]>`
    select outbox.create_endpoint(${`${origin}/hang`}, '{bench.hang}', p_secret => ${secret},
      p_timeout_ms => ${TIMEOUT_MS}) ->> 'id' as id`
  const id = made?.id ?? ''
  const hung = async (): Promise<number> => (await receiver.ask<Report>({ do: 'report' })).hanging
  const pause = async (): Promise<void> => {
    await sql`select outbox.pause_endpoint(${id})`
    while (await hung() > 0) await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await pause()
  await sql`call bench.load_hanging(${id}, ${count})`
  for (const table of ['event', 'delivery']) await sql.unsafe(`vacuum analyze outbox.${table}`)
  return {
    pause,
    resume: async () => {
      await sql`select outbox.resume_endpoint(${id})`
      await sql`update outbox.endpoint set ramp_from = 'epoch' where id = ${id}`
      await sql`
        update outbox.gate
        set breaker = 'closed', streak = 0, first_failure_at = null, last_timed_out = false,
          open_until = '-infinity', probe_event = null, probe_attempt = null, ramp_from = 'epoch',
          next_at = clock_timestamp()
        where endpoint_id = ${id}`
    },
    hung,
  }
}
