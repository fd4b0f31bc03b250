import { setImmediate } from 'node:timers'
import { systemClock } from '../_shared/base/clock.ts'
import { createPolicySource } from '../_shared/connect/address.ts'
import type { Delivery, Result, Retry } from '../_shared/contract/contract.ts'
import type { Database } from '../_shared/database/dispatch.ts'
import type { Log, LogFields, LogLevel } from '../_shared/base/log.ts'
import type { Senders } from '../_shared/senders/sender.ts'
import { createKeyCache } from '../_shared/signing/sign.ts'
import { createFetchTransport } from '../_shared/transport/fetch.ts'
import { createHttp1Transport } from '../_shared/transport/http1.ts'
import type { Tracer } from '../_shared/trace/tracer.ts'
import type { RunDeps } from './active_run.ts'
import { createAttemptSpans } from './attempt_spans.ts'
import { processCpuMs } from './cpu.ts'
import { workerOptions } from './options.ts'

export type WireOptions = {
  database: Database
  transport: 'http1' | 'fetch'
  proxyAuthorization?: string | undefined
  log: Log
  /** The log level of a delivered or released attempt; a failed one is always `info`. */
  routineLevel: LogLevel
  tracer?: Tracer | null
  stop: AbortSignal
  senders: Senders
}

/** The dependencies of a run in a real process; its runs share connections and keys. */
export function wireRun(
  {
    database,
    transport,
    proxyAuthorization,
    log,
    routineLevel,
    tracer = null,
    stop,
    senders,
  }: WireOptions,
): RunDeps {
  const spans = tracer === null ? null : createAttemptSpans(tracer, systemClock)
  return {
    database,
    senders,
    transport: transport === 'fetch' ? createFetchTransport() : createHttp1Transport({
      maxSockets: workerOptions.maxOutstanding,
      maxPerOrigin: workerOptions.maxOutstanding,
      ...(proxyAuthorization === undefined ? {} : { proxyAuthorization }),
    }),
    keys: createKeyCache(),
    policyOf: createPolicySource(),
    clock: systemClock,
    random: Math.random,
    uuid: () => crypto.randomUUID(),
    yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
    cpuMs: processCpuMs,
    log,
    stop,
    spans,
    observe: (result, delivery) => {
      const level = result.outcome === 'failed' ? 'info' : routineLevel
      log(level, 'attempt', attemptFields(result, delivery))
    },
    follow: (retries) => {
      spans?.follow(retries)
      for (const retry of retries) logRetry(log, retry)
    },
  }
}

/** The fields of a result that may be logged: the response body may be confidential. */
function attemptFields(result: Result, { failed_attempts }: Delivery): LogFields {
  const { event, endpoint, attempt, outcome } = result
  const fields: LogFields = { event, endpoint, attempt, failed_attempts, outcome }
  if (result.outcome === 'released') return fields
  fields.ms = result.duration_ms
  if (result.status !== undefined) fields.status = result.status
  if (result.resent === true) fields.resent = true
  if (result.outcome === 'failed') fields.error_class = result.error_class
  return fields
}

function logRetry(log: Log, { event, endpoint, attempt, delay_ms }: Retry): void {
  if (delay_ms === null) log('warn', 'dead letter', { event, endpoint, attempt })
  else log('info', 'retry scheduled', { event, endpoint, attempt, delay_ms })
}
