import type { Clock } from '../_shared/base/clock.ts'
import { messageOf } from '../_shared/base/errors.ts'
import type {
  ClaimKey,
  Delivery,
  DispatchResponse,
  Outcome,
  Result,
} from '../_shared/contract/contract.ts'
import type { Log } from '../_shared/base/log.ts'
import { SenderUnavailable } from '../_shared/senders/lazy.ts'
import { NoRoom } from '../_shared/senders/no_room.ts'
import type { Sender, SenderDeps } from '../_shared/senders/sender.ts'
import type { AttemptSpan, AttemptSpans } from './attempt_spans.ts'
import { maskSecrets } from './mask.ts'

/** The data that all sends of one dispatch response share. */
export type Batch = {
  response: DispatchResponse
  /** When the call was made, on the run's clock: the leases count from this time. */
  calledAt: number
  deps: SenderDeps
}

export type AttemptDeps = {
  senders: ReadonlyMap<string, Sender>
  clock: Clock
  log: Log
  /** null: nothing is traced. */
  spans?: AttemptSpans | null
}

const sameVersion = 'deploy the functions of the same version as the migration'

/**
 * Makes one attempt and returns its result. It never rejects: if a sender throws, this attempt fails
 * with class `protocol`. The delivery is released unsent if the sender is not available. Then it waits for a
 * run that can send its kind. It is also released if `fits` returns false after `ready()`, because the lease
 * has become too short, and if this process has no room to send it.
 */
export async function attemptDelivery(
  { senders, clock, log, spans }: AttemptDeps,
  delivery: Delivery,
  { response, deps }: Batch,
  fits: () => boolean = () => true,
): Promise<Result> {
  const endpoint = response.endpoints[delivery.endpoint]
  const event = response.events[delivery.event]
  const sender = endpoint && senders.get(endpoint.kind)
  let startedAt = clock.now()
  let outcome: Outcome
  if (endpoint === undefined) {
    outcome = failed(`The response has no endpoint for this delivery: ${sameVersion}`)
  } else if (event === undefined) {
    outcome = failed(`The response has no event for this delivery: ${sameVersion}`)
  } else if (sender === undefined) {
    outcome = failed(
      `No sender for endpoints of kind ${endpoint.kind}: deploy functions that have one`,
    )
  } else {
    let span: AttemptSpan | null = null
    try {
      if (sender.ready !== undefined) {
        const isReady = await sender.ready(delivery, endpoint, event)
        if (!isReady || !fits()) return release(delivery)
        startedAt = clock.now()
      }
      span = spans?.begin(delivery, endpoint, event) ?? null
      const sent = span === null ? event : { ...event, traceparent: span.traceparent }
      // Before the span, the log and the database get it.
      outcome = maskSecrets(await sender.send(delivery, endpoint, sent, deps), endpoint)
    } catch (error) {
      if (error instanceof SenderUnavailable) {
        const fields = { kind: endpoint.kind, error: messageOf(error.cause) }
        if (!error.isLogged) log('error', 'sender unavailable', fields)
        error.isLogged = true
        return release(delivery)
      }
      if (error instanceof NoRoom) {
        log('warn', 'no room to send', { ...keyOf(delivery), error: error.message })
        return release(delivery)
      }
      // The text of the error may quote a payload or a secret, so only its name is logged.
      const kind = error instanceof Error ? error.name : typeof error
      log('error', 'sender threw', { ...keyOf(delivery), error: kind })
      outcome = failed('The delivery could not be prepared')
    }
    span?.end(outcome)
  }
  const duration = Math.round(clock.now() - startedAt)
  const version = endpoint === undefined ? {} : { endpoint_version: endpoint.version }
  return { ...keyOf(delivery), ...outcome, duration_ms: duration, ...version }
}

/** The result that releases an unsent delivery. */
export function release(claim: ClaimKey): Result {
  return { ...keyOf(claim), outcome: 'released' }
}

/** The key of the claim that a delivery belongs to. */
export function keyOf({ event, endpoint, attempt }: ClaimKey): ClaimKey {
  return { event, endpoint, attempt }
}

function failed(error: string): Outcome {
  return { outcome: 'failed', error_class: 'protocol', error }
}
