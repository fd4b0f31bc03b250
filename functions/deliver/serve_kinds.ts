import { connectRpc } from '../_shared/database/rpc.ts'
import { systemClock } from '../_shared/base/clock.ts'
import { messageOf } from '../_shared/base/errors.ts'
import { createLog } from '../_shared/base/log.ts'
import { loadTracer } from '../_shared/trace/load.ts'
import { mounted } from '../_shared/http/mounted.ts'
import type { Senders } from '../_shared/senders/sender.ts'
import type { RunDeps } from './active_run.ts'
import { createApp, type StartedRun } from './app.ts'
import { readEdgeEnv } from './env.ts'
import { edgeOptions } from './options.ts'
import type { RunRefusal } from './refusal.ts'
import { run } from './run.ts'
import { keepAlive } from '../_shared/base/wait_until.ts'
import { wireRun } from './wire.ts'

/** The response to a kick waits for the first dispatch, but pg_net waits at most 2 s. */
const firstMs = 1_000

/**
 * Serves the edge function `deliver` for exactly the kinds of endpoints in `senders`: a run gets no delivery of
 * another kind. A kind is in the function only if its file imports the sender, so a function for webhooks alone
 * is smaller and starts faster (webhooks.ts). serveRuns() serves all kinds of this project.
 */
export async function serveKinds(senders: Senders): Promise<void> {
  const environment = Deno.env.toObject()
  const env = readEdgeEnv(environment)
  const log = createLog({ debug: env.debug })
  const stop = new AbortController()
  addEventListener('beforeunload', () => stop.abort())

  const deps = wireRun({
    database: connectRpc({ url: env.url, key: env.key, project: env.project }),
    transport: env.transport,
    proxyAuthorization: env.proxyAuthorization,
    log,
    // The platform stores at most 100 log lines in 10 s, and the line at the end of the run must not be
    // lost.
    routineLevel: 'debug',
    tracer: await loadTracer({ environment, clock: systemClock, log, keepAlive }),
    stop: stop.signal,
    senders,
  })

  function startRun(kick: string | null): StartedRun {
    const { promise: first, resolve } = Promise.withResolvers<RunRefusal | null>()
    const cancel = systemClock.after(firstMs, () => resolve(null))
    const end = runToEnd({ ...deps, kick, dispatched: resolve }).finally(() => {
      cancel()
      resolve(null)
    })
    return { first, end }
  }

  async function runToEnd(deps: RunDeps): Promise<void> {
    try {
      const { end, ...counts } = await run(deps, edgeOptions)
      log('info', 'run ended', { ...counts, kind: 'edge', reason: end })
    } catch (error) {
      log('error', 'run failed', { error: messageOf(error) })
    } finally {
      await deps.spans?.flush()
    }
  }

  const app = createApp({
    kickSecrets: env.kickSecrets,
    startRun,
    waitUntil: keepAlive,
    wallNow: Date.now,
  })

  Deno.serve(mounted('deliver', app.fetch))
}
