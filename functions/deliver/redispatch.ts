import { type Clock, sleep } from '../_shared/clock.ts'
import type { ContractRefusal } from '../_shared/contract_range.ts'
import type { ClaimKey, DispatchAnswer, DispatchCall } from '../_shared/contracts.ts'
import type { Database, DatabaseFault } from '../_shared/database.ts'
import type { Log } from '../_shared/log.ts'
import type { Trouble } from './trouble.ts'

export type RedispatchDeps = {
  database: Database
  clock: Clock
  /** Uniform in [0, 1). */
  random(): number
  log: Log
  /** Cuts the long pauses short. */
  stop: AbortSignal
}

/** How long a call is repeated. */
export type Patience = {
  trouble: Trouble
  /** From when on a fault is the last one. */
  giveUpAt(firstCallAt: number): number
  /** Whether a fault that stays until a person changes something is asked about again, slowly. */
  asksOn: boolean
}

/**
 * An answer, and when the call that brought it was made: its `lease_ms` count from no earlier than
 * that.
 */
export type Answered = { answer: DispatchAnswer; calledAt: number }

/**
 * An answer, the fault for which the call must be divided, what to update when the two sides speak no
 * common contract, what was claimed with an answer that cannot be read, or null when the call was
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

/** A conflict, or one result alone that takes all the time of a statement, is no chance after so many. */
const mostStalls = 5

/**
 * Makes one call until it is answered: an answer that was lost may have claimed, so the same (run,
 * seq) asks again, with growing pauses. A call of which the database refuses something is handed
 * back, to be divided: nothing of it has happened. The same for a call that the database refuses
 * because it speaks another contract. Of an answer that cannot be read all has happened.
 */
export async function dispatchUntilAnswered(
  deps: RedispatchDeps,
  call: DispatchCall,
  { trouble, giveUpAt, asksOn }: Patience,
): Promise<Dispatched> {
  const { database, clock } = deps
  const firstCallAt = clock.now()
  let stalls = 0
  for (let tries = 0;; tries++) {
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
    await pause(deps, isSlow, tries)
  }
}

/**
 * A statement that takes too long is one with too much in it. A deadlock or a lock that is not got
 * passes by itself, unless one result brings it each time.
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
  tries: number,
): Promise<void> {
  const [first, longest] = isSlow
    ? [firstSlowPauseMs, longestSlowPauseMs]
    : [firstPauseMs, longestPauseMs]
  const ms = Math.min(first * 2 ** Math.min(tries, 16), longest) * (0.5 + random())
  // Once it is told to stop, a run waits no longer than it must.
  if (stop.aborted) return await sleep(clock, Math.min(ms, longestPauseMs))
  await sleep(clock, ms, stop)
}
