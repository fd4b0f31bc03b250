/** pg-boss: several loops, each fetching a batch and fetching on while the batches are full. */

import { load, type PgModule } from './_load.ts'
import { serveSide, type Side, type SideConfig } from './_protocol.ts'
import { createSender, type Job } from './_sender.ts'

/** What is used of pg-boss. */
interface PgBoss {
  on(event: 'error', listener: (error: Error) => void): void
  start(): Promise<unknown>
  stop(options: Record<string, unknown>): Promise<void>
  createQueue(name: string, options: Record<string, unknown>): Promise<void>
  work(
    name: string,
    options: Record<string, unknown>,
    handler: (jobs: { data: Job }[]) => Promise<void>,
  ): Promise<string>
  offWork(name: string, options: Record<string, unknown>): Promise<void>
  insert(name: string, jobs: { data: Job }[]): Promise<unknown>
}
interface PgBossModule {
  PgBoss: new (options: Record<string, unknown>) => PgBoss
}

const QUEUE = 'deliver'
const { PgBoss } = await load<PgBossModule>('pg-boss')
const { default: pg } = await load<PgModule>('pg')

async function connect({ role, dbUrl, origin, secret, tuning }: SideConfig): Promise<Side> {
  const { loops = 4, batch = 100 } = tuning
  const isWorker = role === 'worker'
  const counts = { claimed: 0, errors: 0 }
  const boss = new PgBoss({
    connectionString: dbUrl,
    max: loops + 4,
    supervise: isWorker,
    schedule: false,
    useListenNotify: isWorker,
  })
  boss.on('error', () => counts.errors++)
  await boss.start()
  await boss.createQueue(QUEUE, { notify: true })
  const client = new pg.Client({ connectionString: dbUrl })
  await client.connect()
  const sender = createSender(origin, secret, loops * batch)

  async function deliver(jobs: { data: Job }[]): Promise<void> {
    counts.claimed += jobs.length
    try {
      await Promise.all(jobs.map(({ data }) => sender.send(data)))
    } catch (error) {
      counts.errors++
      throw error
    }
  }

  return {
    counts,
    work: async () => {
      await boss.work(QUEUE, {
        batchSize: batch,
        localConcurrency: loops,
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
      }, deliver)
    },
    rest: () => boss.offWork(QUEUE, { wait: true }),
    publish: async (events) => {
      await boss.insert(
        QUEUE,
        events.map(({ id, type, endpoint, body }) => ({ data: { id, type, endpoint, body } })),
      )
    },
    stored: async () => {
      const { rows: [row] } = await client.query<{ unfinished: number; finished: number }>(
        `select count(*) filter (where state <> 'completed')::int as unfinished,
          count(*) filter (where state = 'completed')::int as finished
        from pgboss.job where name = '${QUEUE}'`,
      )
      return row ?? { unfinished: NaN, finished: NaN }
    },
    end: async () => {
      await sender.close()
      await client.end()
      await boss.stop({ graceful: false })
    },
  }
}

await serveSide(connect)
