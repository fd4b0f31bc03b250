import { type Clock, sleep } from '../_shared/clock.ts'
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

/** An answer, and from when on its leases are surely running. */
export type Answered = { answer: DispatchAnswer; claimedAt: number }

const firstPauseMs = 50
const longestPauseMs = 2_000

/**
 * Makes one call until it is answered: an answer that was lost may have claimed, so the same (run, seq) asks again, with
 * growing pauses. Null once `giveUpAt` has passed or when the database refuses the call for good.
 */
export async function dispatchUntilAnswered(
  deps: RedispatchDeps,
  call: DispatchCall,
  giveUpAt: (firstCallAt: number) => number,
): Promise<Answered | null> {
  const { database, clock, random, log } = deps
  const firstCallAt = clock.now()
  for (let pauseMs = firstPauseMs;; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    const calledAt = clock.now()
    const reply = await database.dispatch(call)
    if (reply.ok) {
      // What a repeat brings was claimed by one of the calls before it, at worst by the first.
      const { answer } = reply
      return { answer, claimedAt: answer.repeat ? firstCallAt : calledAt }
    }
    const { retryable, message } = reply.fault
    log(retryable ? 'warn' : 'error', 'dispatch failed', { run: call.run, error: message })
    if (!retryable || clock.now() >= giveUpAt(firstCallAt)) return null
    await sleep(clock, pauseMs * (0.5 + random()))
  }
}
