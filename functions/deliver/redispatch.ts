import { type Clock, sleep } from '../_shared/clock.ts'
import type { ContractRefusal } from '../_shared/contract_range.ts'
import type { DispatchAnswer, DispatchCall } from '../_shared/contracts.ts'
import type { Database } from '../_shared/database.ts'
import type { Log } from '../_shared/log.ts'

export type RedispatchDeps = {
  database: Database
  clock: Clock
  /** Uniform in [0, 1). */
  random(): number
  log: Log
}

/**
 * An answer, and when the call that brought it was made: its `lease_ms` count from no earlier than
 * that.
 */
export type Answered = { answer: DispatchAnswer; calledAt: number }

const firstPauseMs = 50
const longestPauseMs = 2_000

/**
 * Makes one call until it is answered: an answer that was lost may have claimed, so the same (run,
 * seq) asks again, with growing pauses. A refusal when the database speaks another contract, null
 * once `giveUpAt` has passed or when the database refuses the call for good otherwise.
 */
export async function dispatchUntilAnswered(
  deps: RedispatchDeps,
  call: DispatchCall,
  giveUpAt: (firstCallAt: number) => number,
): Promise<Answered | { refusal: ContractRefusal } | null> {
  const { database, clock, random, log } = deps
  const firstCallAt = clock.now()
  for (let pauseMs = firstPauseMs;; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const calledAt = clock.now()
    // A repeat may come minutes later, and what was known is too old then.
    const isRepeat = calledAt > firstCallAt
    const reply = await database.dispatch(isRepeat ? { ...call, known: {} } : call)
    // A repeat's leases began with a call before it, but their `lease_ms` are what is left of them.
    if (reply.ok) return { answer: reply.answer, calledAt }
    const { retryable, message } = reply.fault
    log(retryable ? 'warn' : 'error', 'dispatch failed', { run: call.run, error: message })
    if (reply.fault.refusal !== undefined) return { refusal: reply.fault.refusal }
    if (!retryable || clock.now() >= giveUpAt(firstCallAt)) return null
    await sleep(clock, pauseMs * (0.5 + random()))
  }
}
