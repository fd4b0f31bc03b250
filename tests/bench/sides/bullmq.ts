/** BullMQ on a Redis of the bench's own: several workers in the process, jobs removed when done. */

import { load } from './_load.ts'
import { serveSide, type Side, type SideConfig } from './_protocol.ts'
import { createSender, type Job } from './_sender.ts'

interface Worker {
  run(): Promise<void>
  pause(): Promise<void>
  resume(): void
  close(): Promise<void>
  waitUntilReady(): Promise<unknown>
  on(event: 'error' | 'failed', listener: () => void): void
}
interface Queue {
  addBulk(jobs: { name: string; data: Job; opts: Record<string, unknown> }[]): Promise<unknown>
  getJobCounts(): Promise<Record<string, number>>
  close(): Promise<void>
}
/** What is used of BullMQ. */
interface BullMq {
  Queue: new (name: string, options: Record<string, unknown>) => Queue
  Worker: new (
    name: string,
    process: (job: { data: Job }) => Promise<void>,
    options: Record<string, unknown>,
  ) => Worker
}

const { Queue, Worker } = await load<BullMq>('bullmq')

function connect(
  { role, store, redisPort, origin, secret, tuning }: SideConfig,
): Side {
  const { concurrency = 100, workers: workerCount = 1 } = tuning
  const connection = { host: '127.0.0.1', port: redisPort }
  const queue = new Queue(store, { connection })
  const sender = createSender(origin, secret, concurrency * workerCount)
  const counts = { claimed: 0, errors: 0 }
  const workers: Worker[] = []

  async function deliver({ data }: { data: Job }): Promise<void> {
    counts.claimed++
    await sender.send(data)
  }

  async function start(): Promise<void> {
    for (let n = 0; n < workerCount; n++) {
      const worker = new Worker(store, deliver, {
        connection,
        concurrency,
        autorun: false,
        removeOnComplete: { count: 0 },
      })
      for (const event of ['error', 'failed'] as const) worker.on(event, () => counts.errors++)
      await worker.waitUntilReady()
      worker.run().catch(() => counts.errors++)
      workers.push(worker)
    }
  }

  return {
    counts,
    work: async () => {
      if (workers.length === 0) await start()
      else for (const worker of workers) worker.resume()
    },
    rest: async () => {
      await Promise.all(workers.map((worker) => worker.pause()))
    },
    publish: async (events) => {
      await queue.addBulk(events.map(({ id, type, endpoint, body }) => ({
        name: 'deliver',
        data: { id, type, endpoint, body },
        opts: { removeOnComplete: true },
      })))
    },
    stored: async () => {
      const jobs = await queue.getJobCounts()
      return { unfinished: Object.values(jobs).reduce((sum, n) => sum + n, 0), finished: null }
    },
    end: async () => {
      await sender.close()
      if (role === 'worker') await Promise.all(workers.map((worker) => worker.close()))
      await queue.close()
    },
  }
}

await serveSide(connect)
