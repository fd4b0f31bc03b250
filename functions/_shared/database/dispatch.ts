import { sameVersionAdvice } from './versions.ts'
import { type ContractRefusal, readRefusal } from '../contract/range.ts'
import {
  type ClaimKey,
  type DispatchCall,
  type DispatchResponse,
  dispatchResponse,
  readClaims,
} from '../contract/contract.ts'
import { type FaultKind, kindOfError } from './fault.ts'

/** Why a call failed, and what the caller must do. */
export type DatabaseFault = {
  kind: FaultKind
  /** A SQLSTATE, or an error code of the gateway, the driver or the system; may be empty. */
  code: string
  message: string
  cause: unknown
  /** Set if the versions of functions and database do not work together; the call did nothing. */
  refusal?: ContractRefusal
  /** The claims of a response that cannot be read, as far as possible. */
  claimed?: ClaimKey[]
}

export type DispatchReply = { ok: true; response: DispatchResponse } | {
  ok: false
  fault: DatabaseFault
}

/** The database for a run, over PostgREST or a direct connection. */
export type Database = {
  /** Makes one call and never throws: a lost connection, a refusal or a timeout is a fault. */
  dispatch(call: DispatchCall): Promise<DispatchReply>
  close(): Promise<void>
}

/** The timeout of a call: dispatch's own statement timeout is 5 s. */
export const callTimeoutMs = 10_000

/** Reads the result of dispatch. One of an unknown shape is a permanent fault. */
export function readResponse(value: unknown): DispatchReply {
  const refusal = readRefusal(value)
  if (refusal !== null) return refused(refusal, 'contract', undefined)
  const read = dispatchResponse.safeParse(value)
  if (read.success) return { ok: true, response: read.data }
  const [issue] = read.error.issues
  const where = issue === undefined ? '' : `${issue.path.join('.')}: ${issue.message}`
  return {
    ok: false,
    fault: {
      kind: 'permanent',
      code: 'unreadable',
      // The message has no value, because values are bodies and secrets.
      message: `Cannot read the result of outbox.dispatch: ${where}; ${sameVersionAdvice}`,
      cause: undefined,
      claimed: readClaims(value),
    },
  }
}

/** The reply if the versions of functions and database do not work together; `code` names the error. */
export function refused(
  refusal: ContractRefusal,
  code: string,
  cause: unknown,
): DispatchReply {
  const { message } = refusal
  return { ok: false, fault: { kind: 'permanent', code, message, cause, refusal } }
}

/** Whether a Postgres error is temporary: connection, resources, locks, shutdown, internal. */
export function isTemporarySqlState(code: string): boolean {
  return code.length === 5 && kindOfError({ code }) === 'temporary'
}
