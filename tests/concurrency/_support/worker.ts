import type { Sql } from 'postgres'
import { connectDirect } from '../../../functions/_shared/database/direct.ts'
import { workerOptions } from '../../../functions/deliver/options.ts'
import { run } from '../../../functions/deliver/run.ts'
import { wireRun } from '../../../functions/deliver/wire.ts'

/** A worker whose every request succeeds. */
export function startWorker(sql: Sql): AsyncDisposable & { ended: boolean } {
  const stop = new AbortController()
  const [port] = sql.options.port
  const database = connectDirect({
    url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
  })
  const deps = wireRun({
    database,
    transport: 'fetch',
    log: () => {},
    routineLevel: 'debug',
    stop: stop.signal,
    senders: new Map([['webhook', {
      send: () => Promise.resolve({ outcome: 'delivered', status: 200 } as const),
    }]]),
  })
  const worker = {
    ended: false,
    async [Symbol.asyncDispose](): Promise<void> {
      stop.abort()
      await running
      await deps.transport.close()
      await database.close()
    },
  }
  const running = run(deps, workerOptions).finally(() => worker.ended = true)
  return worker
}

/** Waits up to two minutes for a condition. */
export async function eventually(holds: () => Promise<boolean>): Promise<boolean> {
  for (const until = performance.now() + 120_000; performance.now() < until;) {
    if (await holds()) return true
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return false
}
