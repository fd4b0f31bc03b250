import { hostname } from 'node:os'
import process from 'node:process'
import { sleep, systemClock } from '../_shared/base/clock.ts'
import type { Result } from '../_shared/contract/contract.ts'
import { connectDirect } from '../_shared/database/direct.ts'
import { listenForWork } from '../_shared/database/waking.ts'
import { messageOf } from '../_shared/base/errors.ts'
import { createLog, type Log } from '../_shared/base/log.ts'
import { runtime } from '../_shared/runtime/current.ts'
import { loadTracer } from '../_shared/trace/load.ts'
import { sendersWith } from '../_shared/senders/registry.ts'
import type { Senders } from '../_shared/senders/sender.ts'
import type { RunDeps } from './active_run.ts'
import { readWorkerEnv } from './env.ts'
import { createHealth } from './health.ts'
import { PortError, serveHealth } from './health_server.ts'
import { gatherLines } from './lines.ts'
import { workerOptions } from './options.ts'
import { isProjectStop } from './refusal.ts'
import { run } from './run.ts'
import { startTally } from './tally.ts'
import { wireRun } from './wire.ts'
import { describeWorker } from './worker_facts.ts'

const unsafeFetch =
  'OUTHOOK_TRANSPORT=fetch is not supported under Node.js: unset it, because sockets work there'

/** The pause after the database has refused a run. */
const refusedPauseMs = 5_000
/** The pause while worker and database have no common contract, or the database has another project. */
const contractPauseMs = 15_000

/** What a worker runs with. */
export interface WorkerSetup {
  /** As docs/environment.md lists them. */
  environment: Record<string, string | undefined>
  /** Gets lines of the log, each of which ends with a newline. */
  write(text: string): void
  /** The senders of kinds that this project does not have. */
  own: Senders
  /** What is wrong with this process, for the log; or null. */
  problem: string | null
}

/**
 * Delivers until SIGTERM or SIGINT, then exits; code 2 if a variable is invalid, 1 if the port for its health
 * cannot be opened. `own` has the senders of kinds that this project does not have.
 */
export async function main(own: Senders = new Map()): Promise<never> {
  const problem = runtime.restartWithFlags()
  const stop = new AbortController()
  let deliver: (stop: AbortSignal) => Promise<void>
  try {
    const environment = runtime.environment()
    deliver = await prepareWorker({ environment, write: runtime.writeStdout, own, problem })
  } catch (error) {
    createLog({ debug: false })('error', messageOf(error))
    return runtime.exit(error instanceof PortError ? 1 : 2)
  }
  runtime.onStopSignal(() => stop.abort())
  await deliver(stop.signal)
  runtime.exit(0)
}

/**
 * Checks the variables, and returns what delivers until `stop` and then finishes the requests in flight. Rejects
 * with an error that names an invalid variable, never its value.
 */
export async function prepareWorker(
  { environment, write, own, problem }: WorkerSetup,
): Promise<(stop: AbortSignal) => Promise<void>> {
  const env = readWorkerEnv(environment)
  if (env.transport === 'fetch' && !runtime.hasSafeFetch) throw new Error(unsafeFetch)
  const lines = gatherLines(write)
  const log = createLog({ debug: env.debug, write: lines.write })
  const tracer = await loadTracer({ environment, clock: systemClock, log, keepAlive: () => {} })
  const ending = new AbortController()
  const health = createHealth({ clock: systemClock, stop: ending.signal })
  const healthServer = env.healthPort === null
    ? null
    : await serveHealth({ port: env.healthPort, health })

  return async function deliver(stop): Promise<void> {
    if (stop.aborted) ending.abort()
    stop.addEventListener('abort', () => ending.abort())
    const database = health.watch(connectDirect({ url: env.dbUrl, project: env.project }))
    const description = describeWorker({ clock: systemClock, host: hostname(), pid: process.pid })
    const deps = wireRun({
      database,
      transport: env.transport,
      proxyAuthorization: env.proxyAuthorization,
      log,
      routineLevel: 'info',
      tracer,
      stop,
      senders: sendersWith(own),
    })
    const waker = listenForWork({ url: env.dbUrl, log })
    const tally = startTally(deps.clock, log)
    log('info', 'worker started', { kind: 'worker' })
    if (healthServer !== null) log('info', 'health is served', { port: healthServer.port })
    if (problem !== null) log('warn', problem)
    try {
      await work({
        ...deps,
        waker,
        describe: description.facts,
        observe: watch(deps, (result) => {
          tally.add(result)
          description.add(result)
        }),
        said: { problem: null },
      }, log)
      await deps.spans?.flush()
    } finally {
      // A program of a user's own goes on after an error.
      tally.stop()
      await Promise.allSettled([
        deps.transport.close(),
        database.close(),
        waker.close(),
        healthServer?.close(),
      ])
      lines.flush()
    }
  }
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
