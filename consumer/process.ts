import { type Clock, sleep } from '../functions/_shared/base/clock.ts'
import { messageOf } from '../functions/_shared/base/errors.ts'
import type { Log } from '../functions/_shared/base/log.ts'
import type { DeadMessage, Handle, Handled, Message, Processed } from './message.ts'
import type { ConsumerMetrics } from './metrics.ts'
import { delayMs, mostAttempts } from './schedule.ts'

export type ProcessDeps = {
  handle: Handle
  /** Publishes to the dead-letter topic or queue; resolves when the broker has it. */
  publishDead(dead: DeadMessage): Promise<void>
  /** Publishes the operational event. It does not reject. */
  report(dead: DeadMessage): Promise<Handled>
  clock: Clock
  /** Uniform in [0, 1). */
  random(): number
  log: Log
  /** Absent: nothing is counted. */
  metrics?: ConsumerMetrics
}

/** The pause between attempts while the database or the broker cannot be reached. */
const awayPauseMs = 1_000
/** How often the database may refuse the report of a dead letter. */
const mostRefusals = 3

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
async function giveUp(dead: DeadMessage, deps: ProcessDeps, stop: AbortSignal): Promise<Processed> {
  const { log } = deps
  const fields = { event: dead.message.id, topic: dead.message.source }
  if (!await publishUntilDone(dead, deps, stop) || !await reportOnce(dead, deps, stop)) {
    return 'stopped'
  }
  log('error', 'dead letter', { ...fields, error: dead.error })
  return 'dead'
}

/** Returns false if `stop` came first. */
async function publishUntilDone(
  dead: DeadMessage,
  { publishDead, clock, log }: ProcessDeps,
  stop: AbortSignal,
): Promise<boolean> {
  const { id, source } = dead.message
  while (!stop.aborted) {
    try {
      await publishDead(dead)
      return true
    } catch (error) {
      log('warn', 'dead letter not published', {
        event: id,
        topic: source,
        error: messageOf(error),
      })
      await sleep(clock, awayPauseMs, stop)
    }
  }
  return false
}

/**
 * Reports the dead letter, which the broker has. If the database refuses the report, no further message may
 * wait for it. Returns false if `stop` came first.
 */
async function reportOnce(
  dead: DeadMessage,
  { report, clock, log }: ProcessDeps,
  stop: AbortSignal,
): Promise<boolean> {
  const { id, source } = dead.message
  for (let refusals = 0; refusals < mostRefusals && !stop.aborted;) {
    const reported = await report(dead)
    if (!('error' in reported)) return true
    if (reported.kind === 'failed') refusals++
    log('warn', 'dead letter not reported', { event: id, topic: source, error: reported.error })
    await sleep(clock, awayPauseMs, stop)
  }
  return !stop.aborted
}
