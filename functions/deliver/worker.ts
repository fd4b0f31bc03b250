import { sleep, systemClock } from '../_shared/base/clock.ts'
import type { Result } from '../_shared/contract/contract.ts'
import { connectDirect } from '../_shared/database/direct.ts'
import { messageOf } from '../_shared/base/errors.ts'
import { createLog, type Log } from '../_shared/base/log.ts'
import { loadTracer } from '../_shared/trace/load.ts'
import { type Senders, sendersWith } from '../_shared/senders/registry.ts'
import type { Tracer } from '../_shared/trace/tracer.ts'
import type { RunDeps } from './active_run.ts'
import { readWorkerEnv, type WorkerEnv } from './env.ts'
import { gatherLines, writeToStdout } from './lines.ts'
import { workerOptions } from './options.ts'
import { isProjectStop } from './refusal.ts'
import { run } from './run.ts'
import { startTally } from './tally.ts'
import { wireRun } from './wire.ts'

/** The pause after the database has refused a run. */
const refusedPauseMs = 5_000
/** The pause while worker and database have no common contract, or the database has another project. */
const contractPauseMs = 15_000

/**
 * Delivers until SIGTERM or SIGINT, then exits; code 2 if a variable is invalid. `own` has the
 * senders of kinds that this project does not have.
 */
export async function main(own: Senders = new Map()): Promise<never> {
  Deno.exit(await deliver(own))
}

async function deliver(own: Senders): Promise<number> {
  const lines = gatherLines(writeToStdout)
  let env: WorkerEnv
  let log: Log
  let tracer: Tracer | null
  try {
    const environment = Deno.env.toObject()
    env = readWorkerEnv(environment)
    log = createLog({ debug: env.debug, write: lines.write })
    tracer = await loadTracer({ environment, clock: systemClock, log, keepAlive: () => {} })
  } catch (error) {
    createLog({ debug: false })('error', messageOf(error))
    return 2
  }
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    Deno.addSignalListener(signal, () => stop.abort())
  }
  const database = connectDirect({ url: env.dbUrl, project: env.project })
  const deps = wireRun({
    database,
    transport: env.transport,
    proxyAuthorization: env.proxyAuthorization,
    log,
    routineLevel: 'info',
    tracer,
    stop: stop.signal,
    senders: sendersWith(own),
  })
  const tally = startTally(deps.clock, log)
  log('info', 'worker started', { kind: 'worker' })
  await work({ ...deps, observe: watch(deps, tally.add), said: { problem: null } }, log)
  tally.stop()
  await deps.spans?.flush()
  await deps.transport.close()
  await database.close()
  lines.flush()
  return 0
}

/** Starts run after run until a signal. A database error does not end it, because it may be temporary. */
async function work(deps: RunDeps, log: Log): Promise<void> {
  for (;;) {
    const { end, ...counts } = await run(deps, workerOptions)
    log('info', 'run ended', { ...counts, kind: 'worker', reason: end })
    if (deps.stop.aborted) return
    const isLong = end === 'contract' || end === 'unreadable' || isProjectStop(end)
    const pauseMs = isLong ? contractPauseMs : refusedPauseMs
    await sleep(deps.clock, pauseMs, deps.stop)
  }
}

function watch(deps: RunDeps, add: (result: Result) => void): RunDeps['observe'] {
  return (result, delivery) => {
    deps.observe(result, delivery)
    add(result)
  }
}

if (import.meta.main) await main()
