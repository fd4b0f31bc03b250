import { connectDirect } from '../../../functions/_shared/database/direct.ts'
import type { RunSummary } from '../../../functions/deliver/active_run.ts'
import { edgeOptions, type RunOptions, workerOptions } from '../../../functions/deliver/options.ts'
import { run } from '../../../functions/deliver/run.ts'
import { wireRun } from '../../../functions/deliver/wire.ts'
import { senders } from '../../../functions/_shared/senders/registry.ts'

/** A run of this process on a direct connection. */
export interface LiveRun {
  /** Resolves at its end. */
  readonly summary: Promise<RunSummary>
  stop(): Promise<RunSummary>
}

/** Begins a run, a worker's unless said otherwise. */
export function startRun(dbUrl: string, kind: 'edge' | 'worker' = 'worker'): LiveRun {
  const stopping = new AbortController()
  const database = connectDirect({ url: dbUrl })
  const options: RunOptions = kind === 'edge' ? edgeOptions : workerOptions
  const deps = wireRun({
    database,
    transport: 'http1',
    log: () => {},
    routineLevel: 'debug',
    stop: stopping.signal,
    senders,
  })
  const summary = run(deps, options).finally(async () => {
    await deps.transport.close()
    await database.close()
  })
  return {
    summary,
    stop: () => {
      stopping.abort()
      return summary
    },
  }
}
