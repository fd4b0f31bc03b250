import { type Clock, sleep } from '../functions/_shared/base/clock.ts'
import { messageOf } from '../functions/_shared/base/errors.ts'
import type { Log } from '../functions/_shared/base/log.ts'
import type { DeadMessage, Handle, Message } from './message.ts'
import { delayMs, mostAttempts } from './schedule.ts'

export type ProcessDeps = {
  handle: Handle
  /** Publishes to the dead-letter topic or queue; resolves when the broker has it. */
  publishDead(dead: DeadMessage): Promise<void>
  /** Publishes the operational event. */
  report(dead: DeadMessage): Promise<void>
  clock: Clock
  /** Uniform in [0, 1). */
  random(): number
  log: Log
}

/** The result of a message; `stopped`: it has none, and the broker redelivers it. */
export type Processed = 'done' | 'known' | 'dead' | 'stopped'

/** The pause between attempts while the database or the broker cannot be reached. */
const awayPauseMs = 1_000

/**
 * Handles one message: at most six attempts on the relay schedule, then a dead letter on the broker and
 * an operational event. If the database cannot be reached, that is not an attempt. `stop` ends it
 * between two attempts.
 */
export async function processMessage(
  message: Message,
  deps: ProcessDeps,
  stop: AbortSignal,
): Promise<Processed> {
  const { handle, clock, random, log } = deps
  for (let attempt = 1; !stop.aborted;) {
    const startedAt = clock.now()
    const handled = await handle(message, attempt)
    const ms = Math.round(clock.now() - startedAt)
    const fields = { event: message.id, topic: message.source, attempt, ms }
    if (handled.kind === 'done' || handled.kind === 'known') {
      log('debug', 'message', { ...fields, outcome: handled.kind })
      return handled.kind
    }
    if (handled.kind === 'unavailable') {
      log('warn', 'database unavailable', { ...fields, error: handled.error })
      await sleep(clock, awayPauseMs, stop)
      continue
    }
    log('info', 'message', { ...fields, outcome: 'failed', error: handled.error })
    if (handled.isFinal || attempt >= mostAttempts) {
      return await giveUp({ message, error: handled.error, retryCount: attempt }, deps, stop)
    }
    await sleep(clock, delayMs(attempt, random()), stop)
    attempt++
  }
  return 'stopped'
}

/** Publishes to the broker first: an event without a dead letter is worse than a second dead letter. */
async function giveUp(
  dead: DeadMessage,
  { publishDead, report, clock, log }: ProcessDeps,
  stop: AbortSignal,
): Promise<Processed> {
  const { id, source } = dead.message
  for (const step of [publishDead, report]) {
    for (;;) {
      if (stop.aborted) return 'stopped'
      try {
        await step(dead)
        break
      } catch (error) {
        log('warn', 'dead letter not published', {
          event: id,
          topic: source,
          error: messageOf(error),
        })
        await sleep(clock, awayPauseMs, stop)
      }
    }
  }
  log('error', 'dead letter', { event: id, topic: source, error: dead.error })
  return 'dead'
}
