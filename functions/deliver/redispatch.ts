import { type Clock, sleep } from '../_shared/base/clock.ts'
import type { ContractRefusal } from '../_shared/contract/range.ts'
import type { ClaimKey, DispatchCall, DispatchResponse } from '../_shared/contract/contract.ts'
import type { Database, DatabaseFault } from '../_shared/database/dispatch.ts'
import type { Log } from '../_shared/base/log.ts'
import type { FaultLog } from './fault_log.ts'

export type RedispatchDeps = {
  database: Database
  clock: Clock
  /** Uniform in [0, 1). */
  random(): number
  log: Log
  /** Ends the pauses early. */
  stop: AbortSignal
}

/** For how long, and after which faults, a call is repeated. */
export type RetryLimits = {
  faultLog: FaultLog
  /** The time at which retries stop, on the clock of `firstCallAt`; Infinity: never. */
  giveUpAt(firstCallAt: number): number
  /** Whether to retry, slowly, after a fault that stays until an operator changes something. */
  retriesPermanent: boolean
}

/** A response and when its call was made: its `lease_ms` count from that time or later. */
export type TimedResponse = { response: DispatchResponse; calledAt: number }

/**
 * A response; `refused`: why the call must be divided; `refusal`: which side to update, because there is
 * no common contract; `unreadable`: the claims of a response that cannot be read; null: the retries
 * ended.
 */
export type DispatchEnd =
  | TimedResponse
  | { refused: DatabaseFault }
  | { refusal: ContractRefusal }
  | { unreadable: readonly ClaimKey[] }
  | null

const firstPauseMs = 50
const longestPauseMs = 2_000
const firstSlowPauseMs = 5_000
const longestSlowPauseMs = 60_000

/**
 * A stall is a deadlock, another conflict, a lock timeout or a cancelled statement. It usually passes
 * at the next repeat. After this many, each repeat requests that the database refuse the rows that
 * cause it.
 */
const stallsBeforeRefusing = 3

/** After this many stalls the call is divided. An older database refuses no row. */
const maxStalls = 5

/**
 * Repeats one call with growing pauses until it has a response. If a response was lost, its call may
 * have claimed deliveries, so each repeat has the same (run, seq). If the database refuses a part of
 * the call, or the contract, the fault is returned at once: such a call changed nothing. A call whose
 * response cannot be read was committed. After a few stalls the database refuses the rows that cause
 * them, so one row does not stop the run.
 */
export async function dispatchWithRetries(
  deps: RedispatchDeps,
  call: DispatchCall,
  { faultLog, giveUpAt, retriesPermanent }: RetryLimits,
): Promise<DispatchEnd> {
  const { database, clock } = deps
  const firstCallAt = clock.now()
  let stalls = 0
  for (let failures = 0;; failures++) {
    const calledAt = clock.now()
    // A repeat may come minutes later, when the known endpoints are outdated.
    const isRepeat = calledAt > firstCallAt
    const repeat: DispatchCall = { ...call, known: {}, repeat: true }
    if (stalls >= stallsBeforeRefusing) repeat.refuse = true
    const reply = await database.dispatch(isRepeat ? repeat : call)
    // From the start of this repeat: it returns the remaining time of the leases of an earlier call.
    if (reply.ok) {
      faultLog.clear(call.run)
      return { response: reply.response, calledAt }
    }
    const { fault } = reply
    faultLog.report(call.run, fault)
    if (fault.refusal !== undefined) return { refusal: fault.refusal }
    if (fault.claimed !== undefined) return { unreadable: fault.claimed }
    if (/^(57014|40|55)/.test(fault.code)) stalls++
    if (mustDivide(call, fault, stalls)) return { refused: fault }
    const isSlow = fault.kind !== 'temporary'
    if ((isSlow && !retriesPermanent) || clock.now() >= giveUpAt(firstCallAt)) return null
    await pause(deps, isSlow, failures)
  }
}

/**
 * Whether to divide the call. A statement that times out has too many results. A deadlock or a lock
 * timeout is temporary, unless one result causes it each time.
 */
function mustDivide(
  { results }: DispatchCall,
  { kind, code }: DatabaseFault,
  stalls: number,
): boolean {
  if (results.length === 0) return false
  return kind === 'partial' || stalls >= maxStalls || (code === '57014' && results.length > 1)
}

async function pause(
  { clock, random, stop }: RedispatchDeps,
  isSlow: boolean,
  failures: number,
): Promise<void> {
  const [first, longest] = isSlow
    ? [firstSlowPauseMs, longestSlowPauseMs]
    : [firstPauseMs, longestPauseMs]
  const ms = Math.min(first * 2 ** Math.min(failures, 16), longest) * (0.5 + random())
  // A run that is stopping makes only short pauses.
  if (stop.aborted) return await sleep(clock, Math.min(ms, longestPauseMs))
  await sleep(clock, ms, stop)
}
