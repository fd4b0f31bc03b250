/** An endpoint that never answers, with a backlog behind it. */

import postgres from 'postgres'
import type { Report } from '../receiver.ts'
import { type Bench, urlOf } from '../run/bench.ts'
import { eventOf } from '../sides/_event.ts'
import { type Job, TIMEOUT_MS } from '../sides/_sender.ts'
import type { SideSpec } from '../sides/catalog.ts'

export interface Hanging {
  /** Holds its deliveries, and waits until none hangs. */
  pause(): Promise<void>
  /** Has them sent again, as if the endpoint were met for the first time: all of its slots hang. */
  resume(): Promise<void>
  /** How many requests hang now. */
  hung(): Promise<number>
  end(): Promise<void>
}

async function countHung({ receiver }: Bench): Promise<number> {
  return (await receiver.ask<Report>({ do: 'report' })).hanging
}

async function untilNoneHangs(bench: Bench): Promise<void> {
  while (await countHung(bench) > 0) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Makes the endpoint with the settings of any new one, the timeout aside, paused, and loads so many deliveries. */
export async function hangingEndpoint(bench: Bench, count: number): Promise<Hanging> {
  const { server: { sql }, origin, secret } = bench
  await sql`drop schema if exists bench cascade`
  await sql.file(new URL('./load.sql', import.meta.url).pathname)
  const [made] = await sql<{ id: string }[]>`
    select outbox.create_endpoint(${`${origin}/hang`}, '{bench.hang}', p_secret => ${secret},
      p_timeout_ms => ${TIMEOUT_MS}) ->> 'id' as id`
  const id = made?.id ?? ''
  const pause = async (): Promise<void> => {
    await sql`select outbox.pause_endpoint(${id})`
    await untilNoneHangs(bench)
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
    hung: () => countHung(bench),
    end: async () => {},
  }
}

/** So many jobs of graphile-worker for a receiver that never answers, at each resume. */
export function hangingJobs(bench: Bench, spec: SideSpec, count: number): Hanging {
  const sql = postgres(urlOf(bench.server, spec), { max: 1, onnotice: () => {} })
  const job: Job = { ...eventOf(0, 1), endpoint: 'hang' }
  return {
    pause: async () => {
      await sql`
        delete from graphile_worker._private_jobs where payload ->> 'endpoint' = 'hang'`
      await untilNoneHangs(bench)
    },
    resume: async () => {
      await sql`
        select graphile_worker.add_job('deliver', ${
        JSON.stringify(job)
      }::text::json, max_attempts => 1)
        from generate_series(1, ${count}::int)`
      while (await countHung(bench) === 0) await new Promise((resolve) => setTimeout(resolve, 50))
    },
    hung: () => countHung(bench),
    end: () => sql.end(),
  }
}
