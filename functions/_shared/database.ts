import { sameVersionAdvice } from './database/versions.ts'
import { type ContractRefusal, readRefusal } from './contract_range.ts'
import { type DispatchAnswer, dispatchAnswer, type DispatchCall } from './contracts.ts'

/** Why a call brought no answer. `retryable` says that the same call may succeed later. */
export type DatabaseFault = {
  retryable: boolean
  message: string
  cause: unknown
  /** Functions and database are of versions that do not work together; the call did nothing. */
  refusal?: ContractRefusal
}

export type DispatchReply = { ok: true; answer: DispatchAnswer } | {
  ok: false
  fault: DatabaseFault
}

/** The one thing a run asks of the database, whichever way the call travels. */
export type Database = {
  /** Makes one call and never throws: a lost connection, a refusal or a timeout is a fault. */
  dispatch(call: DispatchCall): Promise<DispatchReply>
  close(): Promise<void>
}

/** A call is given up after so long: dispatch's own statement timeout is 5 s. */
export const callTimeoutMs = 10_000

/** Reads what dispatch returned. An answer of another shape is a fault that no repeat cures. */
export function readAnswer(value: unknown): DispatchReply {
  const refusal = readRefusal(value)
  if (refusal !== null) return refused(refusal, undefined)
  const read = dispatchAnswer.safeParse(value)
  if (read.success) return { ok: true, answer: read.data }
  const [issue] = read.error.issues
  const where = issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`
  return {
    ok: false,
    fault: {
      retryable: false,
      // The value itself stays out of the message: it holds bodies and secrets.
      message: `Cannot read the answer of outbox.dispatch: ${where}; ${sameVersionAdvice}`,
      cause: undefined,
    },
  }
}

/** The reply of a database that these functions do not work with. */
export function refused(refusal: ContractRefusal, cause: unknown): DispatchReply {
  return { ok: false, fault: { retryable: false, message: refusal.message, cause, refusal } }
}

/** Whether a Postgres error passes by itself: connection, resources, locks, shutdown, internal. */
export function isPassingSqlState(code: string): boolean {
  return /^(08|25P0[23]|40|53|55|57|58|XX)/.test(code)
}
