/** A worker whose sends are timers, in this process. */

import { connectDirect } from '../../../functions/_shared/database/direct.ts'
import type { Database } from '../../../functions/_shared/database/dispatch.ts'
import { createLog } from '../../../functions/_shared/base/log.ts'
import type { RunOptions } from '../../../functions/deliver/options.ts'
import { run } from '../../../functions/deliver/run.ts'
import { wireRun } from '../../../functions/deliver/wire.ts'
import { pause } from './pause.ts'

/** What a timed worker is like, and what it notes. */
export interface TimedWorker {
  /** How long each send takes. */
  sendMs: number
  options: RunOptions
  /** Gets how long each of its calls took, in ms. */
  calls: number[]
  /** Called for each delivery. */
  delivered(): void
}

/** Delivers until `stop` is aborted; resolves when all results are recorded. */
export async function startTimedWorker(
  url: string,
  { sendMs, options, calls, delivered }: TimedWorker,
  stop: AbortSignal,
): Promise<void> {
  const database = connectDirect({ url })
  const watched: Database = {
    close: database.close,
    dispatch: async (call) => {
      const begun = performance.now()
      const reply = await database.dispatch(call)
      calls.push(performance.now() - begun)
      return reply
    },
  }
  const send = async (): Promise<{ outcome: 'delivered'; status: number }> => {
    await pause(sendMs)
    return { outcome: 'delivered', status: 200 }
  }
  const deps = wireRun({
    database: watched,
    transport: 'http1',
    log: createLog({ debug: false, write: () => {} }),
    routineLevel: 'debug',
    stop,
    senders: new Map([['webhook', { send }]]),
  })
  const observe = ({ outcome }: { outcome: string }): void => {
    if (outcome === 'delivered') delivered()
  }
  await run({ ...deps, observe }, options)
  await database.close()
}
