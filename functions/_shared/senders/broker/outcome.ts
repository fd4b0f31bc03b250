import type { ErrorClass, Outcome } from '../../contract/contract.ts'
import { faultOf } from '../../transport/fault.ts'
import { failed } from '../http_outcome.ts'
import { mostLate } from './unanswered.ts'

export type Failure = Outcome & { outcome: 'failed' }

/** Messages for brokers, where the message for a webhook would mention HTTP or an endpoint. */
const sentences: Partial<Record<ErrorClass, string>> = {
  connect: 'The broker refuses the connection or cannot be reached',
  timeout: 'The broker did not respond in time',
  reset: 'The connection broke before the broker confirmed',
}

/** The broker could not be reached, or did not confirm the record. */
export function unreachable(error: unknown): Failure {
  const { errorClass, message } = faultOf(error)
  const known = errorClass === 'protocol' ? 'connect' : errorClass
  return failed(known, sentences[known] ?? message)
}

/** The broker refused; `code` is the protocol's error code, which `failure_rule` lists. */
export function refused(code: string, error: string): Failure {
  return { ...failed('broker', error), code }
}

/** The timeout has passed. */
export function late(): Failure {
  return failed('timeout', sentences.timeout ?? '')
}

/** The broker has not responded to so many records of the endpoint that no further one is sent. */
export function full(): Failure {
  return failed('timeout', `The broker has not responded to ${mostLate} earlier records`)
}

/** Whether the connection cannot be used after this failure. */
export function isBroken(outcome: Outcome): boolean {
  return outcome.outcome === 'failed' && outcome.error_class !== 'broker' &&
    outcome.error_class !== 'protocol'
}

/**
 * The result of `work`, or a timeout after `ms`; `work` continues, but its result is ignored. So it must send
 * nothing after `isLate` returns true: the lease of the delivery may have ended. `now` is ms on a monotonic
 * clock, because a timer may be late.
 */
export async function within(
  ms: number,
  work: (isLate: () => boolean) => Promise<Outcome>,
  now: () => number = () => performance.now(),
): Promise<Outcome> {
  const deadline = now() + ms
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<Outcome>((resolve) => timer = setTimeout(() => resolve(late()), ms))
  try {
    return await Promise.race([work(() => now() >= deadline), end])
  } finally {
    clearTimeout(timer)
  }
}
