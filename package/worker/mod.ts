/** `outhook-worker`: the long-running worker, in a program of your own. */

import { prepareWorker } from '../../functions/deliver/worker.ts'
import { runtime } from '../../functions/_shared/runtime/current.ts'
import { writeTo } from './lines.ts'

/** How a worker runs. */
export interface WorkerOptions {
  /** The connection string of the database: `postgresql://user:password@host:5432/postgres`. */
  dbUrl: string
  /**
   * The name of the project, such as its URL: the same as that of the function `deliver`. A connection
   * string of Supabase contains it.
   */
  project?: string
  /** Ends the worker: it starts no new request and finishes those in flight. */
  signal: AbortSignal
  /** Gets each line of the log, which is JSON; by default, or if it throws, standard output does. */
  log?(line: string): void
  /** The port of all addresses on which `GET /ready` and `GET /live` respond; by default none. */
  healthPort?: number
  /** More variables, such as OUTHOOK_DEBUG. Those of the process are not read. */
  variables?: Readonly<Record<string, string>>
}

/**
 * Delivers until the signal, and resolves when the requests in flight are finished. It waits while the database
 * does not respond. Rejects at once if an option is invalid.
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { dbUrl, project, signal, log, healthPort, variables = {} } = options
  const deliver = await prepareWorker({
    environment: {
      ...variables,
      OUTHOOK_DB_URL: dbUrl,
      ...project === undefined ? {} : { OUTHOOK_PROJECT: project },
      ...healthPort === undefined ? {} : { OUTHOOK_HEALTH_PORT: String(healthPort) },
    },
    write: log === undefined ? runtime.writeStdout : writeTo(log),
    own: new Map(),
    problem: runtime.threadsProblem(),
  })
  await deliver(signal)
}
