/**
 * Outhook as it ships: a worker's loop on a direct connection, or edge runs by RPC when it is given
 * `runs`, which share this process and do not end. Attempts are recorded, breaker and rate logic are
 * on. For Node it is bundled as the worker is.
 */

import { parseArgs } from 'node:util'
import postgres from 'postgres'
import type { Database } from '../../../functions/_shared/database/dispatch.ts'
import { connectDirect } from '../../../functions/_shared/database/direct.ts'
import { connectRpc } from '../../../functions/_shared/database/rpc.ts'
import { createLog } from '../../../functions/_shared/base/log.ts'
import { edgeOptions, type RunOptions, workerOptions } from '../../../functions/deliver/options.ts'
import { run } from '../../../functions/deliver/run.ts'
import { wireRun } from '../../../functions/deliver/wire.ts'
import { senders } from '../../../functions/_shared/senders/registry.ts'
import { percentile } from '../run/stats.ts'
import type { BenchEvent } from './_event.ts'
import { serveSide, type Side, type SideConfig, type Stored } from './_protocol.ts'

const isRpc = parseArgs({ options: { rpc: { type: 'boolean' } }, strict: false }).values.rpc

/** An edge run without the end that the platform's limits put to it. */
const endlessEdge: RunOptions = {
  ...edgeOptions,
  isBounded: false,
  maxCpuMs: null,
  busyMs: Infinity,
}

function connect(config: SideConfig): Side {
  const sql = postgres(config.dbUrl, { max: 1, onnotice: () => {} })
  const counts: Side['counts'] = { claimed: 0, errors: 0 }
  const database = watched(
    isRpc
      ? connectRpc({ url: config.apiUrl, key: config.apiKey })
      : connectDirect({ url: config.dbUrl }),
    counts,
  )
  let stop = new AbortController()
  let runs: Promise<unknown>[] = []
  const deps = wireRun({
    database,
    transport: 'http1',
    log: createLog({ debug: false, write: () => {} }),
    routineLevel: 'debug',
    stop: stop.signal,
    senders,
  })
  return {
    counts,
    fansOut: true,
    work: () => {
      stop = new AbortController()
      runs = Array.from({ length: config.tuning.runs ?? 1 }, () =>
        run({
          ...deps,
          stop: stop.signal,
          observe: (result) => {
            // Given back unsent when the run is told to stop: nobody was to see it.
            if (result.outcome === 'released') counts.claimed--
            if (result.outcome !== 'failed') return
            counts.errors++
            counts.lastError = `${result.error_class} ${result.error}`
          },
        }, isRpc ? endlessEdge : workerOptions))
      return Promise.resolve()
    },
    rest: async () => {
      stop.abort()
      await Promise.all(runs)
    },
    publish: async (events) => {
      await sql`select outbox.publish_many(${JSON.stringify(events.map(toPublish))}::text::jsonb)`
    },
    stored: async () => {
      const [row] = await sql<[Stored]>`select
        ((select count(*) from outbox.delivery) + (select count(*) from outbox.unrouted))::int as unfinished,
        (select count(*) from outbox.attempt where kind = 'attempt' and outcome = 'delivered')::int as finished`
      return row
    },
    extra: database.take,
    end: async () => {
      await deps.transport.close()
      await database.close()
      await sql.end()
    },
  }
}

function toPublish({ type, data }: BenchEvent): { type: string; body: string } {
  return { type, body: data }
}

/** The same database, which counts what it hands out, and how long its calls took, in ms. */
function watched(
  database: Database,
  counts: Side['counts'],
): Database & { take(): Record<string, number> } {
  let times: number[] = []
  return {
    close: database.close,
    dispatch: async (call) => {
      const begun = performance.now()
      const reply = await database.dispatch(call)
      times.push(performance.now() - begun)
      if (reply.ok) counts.claimed += reply.response.deliveries.length
      return reply
    },
    take: () => {
      const taken = times
      times = []
      return {
        dispatches: taken.length,
        dispatchP50: percentile(taken, 50),
        dispatchP95: percentile(taken, 95),
      }
    },
  }
}

/** Serves this side until its input ends. */
export async function main(): Promise<void> {
  await serveSide(connect)
}

if (import.meta.main) await main()
