import type { ErrorClass, Outcome } from '../../contract/contract.ts'
import { faultOf } from '../../transport/fault.ts'
import { failed } from '../http_outcome.ts'

export type Failure = Outcome & { outcome: 'failed' }

/** What a person reads where a webhook's sentence would speak of HTTP or of an endpoint. */
const sentences: Partial<Record<ErrorClass, string>> = {
  connect: 'The broker refuses the connection or cannot be reached',
  timeout: 'The broker did not answer in time',
  reset: 'The connection broke before the broker confirmed',
}

/** The broker could not be asked, or did not say what became of the record. */
export function unreachable(error: unknown): Failure {
  const { errorClass, message } = faultOf(error)
  const known = errorClass === 'protocol' ? 'connect' : errorClass
  return failed(known, sentences[known] ?? message)
}

/** The broker's own answer: `code` is the protocol's word, which `failure_rule` knows. */
export function refused(code: string, error: string): Failure {
  return { ...failed('broker', error), code }
}

/** The time for it is over. */
export function late(): Failure {
  return failed('timeout', sentences.timeout ?? '')
}

/** Whether a failure says that the connection is of no more use. */
export function isBroken(outcome: Outcome): boolean {
  return outcome.outcome === 'failed' && outcome.error_class !== 'broker' &&
    outcome.error_class !== 'protocol'
}

/** Ends what takes longer than `ms`; it is not stopped, but what comes of it no longer counts. */
export async function within(ms: number, work: Promise<Outcome>): Promise<Outcome> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<Outcome>((resolve) => timer = setTimeout(() => resolve(late()), ms))
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}
