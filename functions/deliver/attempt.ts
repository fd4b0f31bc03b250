import type { Clock } from '../_shared/base/clock.ts'
import type {
  ClaimKey,
  Delivery,
  DispatchAnswer,
  Outcome,
  Result,
} from '../_shared/contract/contract.ts'
import type { Log } from '../_shared/base/log.ts'
import type { Sender, SenderDeps } from '../_shared/senders/sender.ts'
import type { AttemptSpan, AttemptSpans } from './attempt_spans.ts'

/** What one answer brought, as its sends need it. */
export type Batch = {
  answer: DispatchAnswer
  /** When the call was made, on the run's clock: the leases count from there. */
  calledAt: number
  deps: SenderDeps
}

export type AttemptDeps = {
  senders: ReadonlyMap<string, Sender>
  clock: Clock
  log: Log
  /** None: nothing is traced. */
  spans?: AttemptSpans | null
}

const sameVersion = 'deploy the functions of the same version as the migration'

/**
 * Makes one attempt and gives its result; a bug in a sender is a failure of that attempt and no
 * more.
 */
export async function attemptDelivery(
  { senders, clock, log, spans }: AttemptDeps,
  delivery: Delivery,
  { answer, deps }: Batch,
): Promise<Result> {
  const endpoint = answer.endpoints[delivery.endpoint]
  const event = answer.events[delivery.event]
  const sender = endpoint && senders.get(endpoint.kind)
  let startedAt = clock.now()
  let outcome: Outcome
  if (endpoint === undefined) {
    outcome = failed(`The delivery came without its endpoint: ${sameVersion}`)
  } else if (event === undefined) {
    outcome = failed(`The delivery came without its event: ${sameVersion}`)
  } else if (sender === undefined) {
    outcome = failed(
      `No sender for endpoints of kind ${endpoint.kind}: deploy functions that have one`,
    )
  } else {
    let span: AttemptSpan | null = null
    try {
      if (sender.ready !== undefined) {
        await sender.ready(delivery, endpoint, event)
        startedAt = clock.now()
      }
      span = spans?.begin(delivery, endpoint, event) ?? null
      const sent = span === null ? event : { ...event, traceparent: span.traceparent }
      outcome = await sender.send(delivery, endpoint, sent, deps)
    } catch (error) {
      // The error's text may hold what it was thrown over, so its kind alone is logged.
      const kind = error instanceof Error ? error.name : typeof error
      log('error', 'sender threw', { ...keyOf(delivery), error: kind })
      outcome = failed('The delivery could not be prepared')
    }
    span?.end(outcome)
  }
  const duration = Math.round(clock.now() - startedAt)
  return { ...keyOf(delivery), ...outcome, duration_ms: duration }
}

/** Hands an unsent delivery back. */
export function release(claim: ClaimKey): Result {
  return { ...keyOf(claim), outcome: 'released' }
}

/** Which claim a delivery is. */
export function keyOf({ event, endpoint, attempt }: ClaimKey): ClaimKey {
  return { event, endpoint, attempt }
}

function failed(error: string): Outcome {
  return { outcome: 'failed', error_class: 'protocol', error }
}
