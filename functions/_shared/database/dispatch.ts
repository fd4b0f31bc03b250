import { sameVersionAdvice } from './versions.ts'
import { type ContractRefusal, readRefusal } from '../contract/range.ts'
import {
  type ClaimKey,
  type DispatchAnswer,
  dispatchAnswer,
  type DispatchCall,
  readClaims,
} from '../contract/contract.ts'
import { type FaultKind, kindOfCode } from './fault.ts'

/** Why a call failed, and what the caller must do. */
export type DatabaseFault = {
  kind: FaultKind
  /** A SQLSTATE, or an error code of the gateway, the driver or the system; may be empty. */
  code: string
  message: string
  cause: unknown
  /** Set if the versions of functions and database do not work together; the call did nothing. */
  refusal?: ContractRefusal
  /** What an answer that cannot be read has claimed, as far as that can be read. */
  claimed?: ClaimKey[]
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
  if (refusal !== null) return refused(refusal, 'contract', undefined)
  const read = dispatchAnswer.safeParse(value)
  if (read.success) return { ok: true, answer: read.data }
  const [issue] = read.error.issues
  const where = issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`
  return {
    ok: false,
    fault: {
      kind: 'never',
      code: 'unreadable',
      // The value itself stays out of the message: it holds bodies and secrets.
      message: `Cannot read the result of outbox.dispatch: ${where}; ${sameVersionAdvice}`,
      cause: undefined,
      claimed: readClaims(value),
    },
  }
}

/** The reply for a database that these functions do not work with; `code` names the error. */
export function refused(
  refusal: ContractRefusal,
  code: string,
  cause: unknown,
): DispatchReply {
  const { message } = refusal
  return { ok: false, fault: { kind: 'never', code, message, cause, refusal } }
}

/** Whether a Postgres error passes by itself: connection, resources, locks, shutdown, internal. */
export function isPassingSqlState(code: string): boolean {
  return code.length === 5 && kindOfCode(code) === 'passes'
}
