import { systemClock } from '../_shared/clock.ts'
import { createPolicySource } from '../_shared/connect/address.ts'
import type { Result } from '../_shared/contracts.ts'
import type { Database } from '../_shared/database.ts'
import type { Log, LogFields, LogLevel } from '../_shared/log.ts'
import { senders } from '../_shared/senders/registry.ts'
import { createKeyCache } from '../_shared/sign.ts'
import { createFetchTransport } from '../_shared/transport/fetch.ts'
import { createHttp1Transport } from '../_shared/transport/http1.ts'
import type { RunDeps } from './active_run.ts'
import { processCpuMs } from './cpu.ts'
import { workerOptions } from './options.ts'

export type WireOptions = {
  database: Database
  transport: 'http1' | 'fetch'
  proxyAuthorization?: string | undefined
  log: Log
  /** The level of an attempt's line; a failed one is always `info`. */
  routineLevel: LogLevel
  stop: AbortSignal
}

/** A run's effects in a real process; connections and keys are shared by all runs of it. */
export function wireRun(
  { database, transport, proxyAuthorization, log, routineLevel, stop }: WireOptions,
): RunDeps {
  return {
    database,
    senders,
    transport: transport === 'fetch' ? createFetchTransport() : createHttp1Transport({
      maxSockets: workerOptions.slots,
      maxPerOrigin: workerOptions.maxInHand,
      ...(proxyAuthorization === undefined ? {} : { proxyAuthorization }),
    }),
    keys: createKeyCache(),
    policyOf: createPolicySource(),
    clock: systemClock,
    random: Math.random,
    uuid: () => crypto.randomUUID(),
    cpuMs: processCpuMs,
    log,
    stop,
    observe: (result) => {
      log(result.outcome === 'failed' ? 'info' : routineLevel, 'attempt', logFields(result))
    },
  }
}

/** The parts of a result that may be logged: the response belongs to the endpoint's owner alone. */
function logFields(result: Result): LogFields {
  const { event, endpoint, attempt, outcome } = result
  const fields: LogFields = { event, endpoint, attempt, outcome }
  if (result.outcome === 'released') return fields
  fields.ms = result.duration_ms
  if (result.status !== undefined) fields.status = result.status
  if (result.outcome === 'failed') fields.error_class = result.error_class
  return fields
}
