import { type Clock, sleep } from '../_shared/base/clock.ts'
import type { ContractRefusal } from '../_shared/contract/range.ts'
import type { ClaimKey, DispatchAnswer, DispatchCall } from '../_shared/contract/contract.ts'
import type { Database, DatabaseFault } from '../_shared/database/dispatch.ts'
import type { Log } from '../_shared/base/log.ts'
import type { Trouble } from './trouble.ts'

export type RedispatchDeps = {
  database: Database
  clock: Clock
  /** Uniform in [0, 1). */
  random(): number
  log: Log
  /** Ends the pauses early. */
  stop: AbortSignal
}

/** How long a call is repeated. */
export type Patience = {
  trouble: Trouble
  /** The time from which a fault is not followed by another attempt. */
  giveUpAt(firstCallAt: number): number
  /** Whether to retry, slowly, after a fault that stays until a person changes something. */
  asksOn: boolean
}

/**
 * An answer, and when the call that brought it was made: its `lease_ms` count from no earlier than
 * that.
 */
export type Answered = { answer: DispatchAnswer; calledAt: number }

/**
 * A response; the fault because of which the call must be divided; the side to update if the two sides
 * have no common contract; what was claimed by a response that cannot be read; or null if the call was
 * given up.
 */
export type Dispatched =
  | Answered
  | { refused: DatabaseFault }
  | { refusal: ContractRefusal }
  | { unreadable: readonly ClaimKey[] }
  | null

const firstPauseMs = 50
const longestPauseMs = 2_000
const firstSlowPauseMs = 5_000
const longestSlowPauseMs = 60_000

/** A repeated conflict, or a single result with a statement timeout, is given up after so many. */
const mostStalls = 5

/**
 * Repeats one call until it gets a response, with growing pauses. If a response was lost, that call may
 * have claimed deliveries, so each repeat has the same (run, seq). If the database refuses a part of
 * the call, or the contract of these functions, this returns the fault at once. Such a call has
 * changed nothing. A call whose response cannot be read has changed everything.
 */
export async function dispatchUntilAnswered(
  deps: RedispatchDeps,
  call: DispatchCall,
  { trouble, giveUpAt, asksOn }: Patience,
): Promise<Dispatched> {
  const { database, clock } = deps
  const firstCallAt = clock.now()
  let stalls = 0
  for (let failures = 0;; failures++) {
    const calledAt = clock.now()
    // A repeat may come minutes later, and what was known is too old then.
    const isRepeat = calledAt > firstCallAt
    const reply = await database.dispatch(isRepeat ? { ...call, known: {} } : call)
    // A repeat's leases began with a call before it, but their `lease_ms` are what is left of them.
    if (reply.ok) {
      trouble.end(call.run)
      return { answer: reply.answer, calledAt }
    }
    const { fault } = reply
    trouble.say(call.run, fault)
    if (fault.refusal !== undefined) return { refusal: fault.refusal }
    if (fault.claimed !== undefined) return { unreadable: fault.claimed }
    if (/^(57014|40|55)/.test(fault.code)) stalls++
    if (mustDivide(call, fault, stalls)) return { refused: fault }
    const isSlow = fault.kind !== 'passes'
    if ((isSlow && !asksOn) || clock.now() >= giveUpAt(firstCallAt)) return null
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
  return kind === 'member' || stalls >= mostStalls || (code === '57014' && results.length > 1)
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
  // A run that is told to stop makes only short pauses.
  if (stop.aborted) return await sleep(clock, Math.min(ms, longestPauseMs))
  await sleep(clock, ms, stop)
}
