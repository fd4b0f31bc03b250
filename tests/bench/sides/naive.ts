/** What one writes first: a table, SKIP LOCKED, a few loops that each claim, send and record a batch. */

import { load, type PgClient, type PgModule } from './_load.ts'
import { serveSide, type Side, type SideConfig } from './_protocol.ts'
import { createSender, type Job } from './_sender.ts'

const { default: pg } = await load<PgModule>('pg')

const SCHEMA = `
  create table if not exists public.job (
    id bigint generated always as identity primary key,
    status text not null default 'waiting',
    payload json not null,
    delivered_at timestamptz
  );
  create index if not exists job_waiting on public.job (id) where status = 'waiting';`

const CLAIM = `
  with next as materialized (
    select id from public.job where status = 'waiting' order by id limit $1 for update skip locked
  )
  update public.job as j set status = 'taken' from next where j.id = next.id returning j.id, j.payload`

const RECORD = `
  update public.job set status = 'delivered', delivered_at = now() where id = any($1)`

async function connect({ dbUrl, origin, secret, tuning }: SideConfig): Promise<Side> {
  const { loops = 4, batch = 100, pollMs = 25 } = tuning
  const clients = Array.from({ length: loops }, () => new pg.Client({ connectionString: dbUrl }))
  for (const client of clients) await client.connect()
  const [first] = clients
  if (first === undefined) throw new Error('a naive worker needs a loop')
  await first.query(SCHEMA)
  const sender = createSender(origin, secret, loops * batch)
  const counts = { claimed: 0, errors: 0 }
  let isWorking = false
  let working: Promise<void>[] = []

  async function loop(client: PgClient): Promise<void> {
    while (isWorking) {
      const { rows } = await client.query<{ id: string; payload: Job }>({
        name: 'claim',
        text: CLAIM,
        values: [batch],
      })
      counts.claimed += rows.length
      const sent = await Promise.allSettled(rows.map(({ payload }) => sender.send(payload)))
      counts.errors += sent.filter(({ status }) => status === 'rejected').length
      const ids = rows.filter((_, index) => sent[index]?.status === 'fulfilled').map(({ id }) => id)
      if (ids.length > 0) await client.query({ name: 'record', text: RECORD, values: [ids] })
      else await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

  return {
    counts,
    work: () => {
      isWorking = true
      working = clients.map(loop)
      return Promise.resolve()
    },
    rest: async () => {
      isWorking = false
      await Promise.all(working)
    },
    publish: async (events) => {
      const jobs = events.map(({ id, type, endpoint, body }) => ({ id, type, endpoint, body }))
      await first.query({
        name: 'publish',
        text: `insert into public.job (payload)
          select j from json_array_elements($1::json) as j`,
        values: [JSON.stringify(jobs)],
      })
    },
    stored: async () => {
      const { rows: [row] } = await first.query<{ unfinished: number; finished: number }>(
        `select count(*) filter (where status <> 'delivered')::int as unfinished,
          count(*) filter (where status = 'delivered')::int as finished from public.job`,
      )
      return row ?? { unfinished: NaN, finished: NaN }
    },
    end: async () => {
      await sender.close()
      for (const client of clients) await client.end()
    },
  }
}

await serveSide(connect)
