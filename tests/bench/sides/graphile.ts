/** graphile-worker: a pool with a local queue, jobs completed in batches. */

import { load, type PgModule } from './_load.ts'
import { serveSide, type Side, type SideConfig } from './_protocol.ts'
import { createSender, type Job } from './_sender.ts'

interface Runner {
  stop(): Promise<void>
}

/** What is used of graphile-worker. */
interface Graphile {
  run(options: Record<string, unknown>): Promise<Runner>
  runMigrations(options: Record<string, unknown>): Promise<void>
  Logger: new (factory: () => () => void) => unknown
}

const { run, runMigrations, Logger } = await load<Graphile>('graphile-worker')
const { default: pg } = await load<PgModule>('pg')

async function connect({ dbUrl, origin, secret, tuning }: SideConfig): Promise<Side> {
  const { concurrency = 64, localQueue = 500, pollMs = 2_000 } = tuning
  const logger = new Logger(() => () => {})
  const client = new pg.Client({ connectionString: dbUrl })
  await client.connect()
  await runMigrations({ connectionString: dbUrl, logger })
  const sender = createSender(origin, secret, concurrency)
  const counts = { claimed: 0, errors: 0 }
  let runner: Runner | undefined

  async function deliver(job: Job): Promise<void> {
    counts.claimed++
    try {
      await sender.send(job)
    } catch (error) {
      counts.errors++
      throw error
    }
  }

  return {
    counts,
    work: async () => {
      runner = await run({
        taskList: { deliver },
        parsedCronItems: [],
        noHandleSignals: true,
        logger,
        preset: {
          worker: {
            connectionString: dbUrl,
            concurrentJobs: concurrency,
            maxPoolSize: 12,
            pollInterval: pollMs,
            localQueue: { size: localQueue },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
      })
    },
    rest: async () => {
      await runner?.stop()
      runner = undefined
    },
    publish: async (events) => {
      const specs = events.map(({ id, type, endpoint, body }) => ({
        identifier: 'deliver',
        payload: { id, type, endpoint, body } satisfies Job,
      }))
      await client.query({
        name: 'add',
        text: `select count(*) from graphile_worker.add_jobs((select array_agg(r)
          from json_populate_recordset(null::graphile_worker.job_spec, $1::json) r))`,
        values: [JSON.stringify(specs)],
      })
    },
    stored: async () => {
      const { rows: [row] } = await client.query<{ unfinished: number }>(
        'select count(*)::int as unfinished from graphile_worker._private_jobs',
      )
      return { unfinished: row?.unfinished ?? NaN, finished: null }
    },
    end: async () => {
      await sender.close()
      await client.end()
    },
  }
}

await serveSide(connect)
