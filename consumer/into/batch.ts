import { sleep } from '../../functions/_shared/base/clock.ts'
import type { Taken } from '../inbox.ts'
import type { Handled, Message, Processed } from '../message.ts'
import { type ProcessDeps, processMessage } from '../process.ts'
import { delayMs } from '../schedule.ts'
import type { CarriedEvent } from './event.ts'

/** A message for one database. */
export type Carried = {
  message: Message
  /** A text says why it is none. */
  event: CarriedEvent | string
}

export type BatchDeps = Omit<ProcessDeps, 'handle'> & {
  /** The name of the database. */
  name: string
  /** Publishes events in the database, in one transaction. It does not reject. */
  take(events: readonly CarriedEvent[]): Promise<Taken>
}

/** The pauses while the database is unavailable grow up to the sixth. */
const longestPause = 6

/**
 * Publishes a batch in its database, and makes a dead letter of each message that the database refuses. While
 * the database is unavailable, it waits. If the database fails without saying at which event, each gets
 * attempts of its own. The results have the order of the messages; `stop` ends it between two attempts.
 */
export async function processBatch(
  batch: readonly Carried[],
  deps: BatchDeps,
  stop: AbortSignal,
): Promise<Processed[]> {
  const events = batch.flatMap(({ event }) => typeof event === 'string' ? [] : [event])
  const taken = events.length === 0 ? noEvents : await takeWhenAvailable(events, deps, stop)
  if (taken === null) return batch.map(() => 'stopped')
  const results: Processed[] = []
  let at = 0
  for (const { message, event } of batch) {
    const first = typeof event === 'string'
      ? failed(event)
      : taken.kind === 'failed'
      ? null
      : handledOf(taken, at++)
    results.push(await processOne(message, event, first, deps, stop))
  }
  return results
}

const noEvents: Taken = { kind: 'taken', outcomes: [] }

/** null: stopped before. */
async function takeWhenAvailable(
  events: readonly CarriedEvent[],
  { name, take, clock, random, log }: BatchDeps,
  stop: AbortSignal,
): Promise<Exclude<Taken, { kind: 'unavailable' }> | null> {
  for (let tries = 1; !stop.aborted; tries++) {
    const taken = await take(events)
    if (taken.kind !== 'unavailable') return taken
    log('warn', 'database unavailable', { error: `${name}: ${taken.error}`, attempt: tries })
    await sleep(clock, delayMs(Math.min(tries, longestPause), random()), stop)
  }
  return null
}

/** `first` is what the batch has said of the message; null: it is tried alone. */
async function processOne(
  message: Message,
  event: CarriedEvent | string,
  first: Handled | null,
  deps: BatchDeps,
  stop: AbortSignal,
): Promise<Processed> {
  if (first?.kind === 'done' || first?.kind === 'known') return first.kind
  async function handle(): Promise<Handled> {
    if (first !== null || typeof event === 'string') return first ?? failed(String(event))
    const taken = await deps.take([event])
    return taken.kind === 'taken'
      ? handledOf(taken, 0)
      : taken.kind === 'failed'
      ? failed(taken.error, false)
      : taken
  }
  return await processMessage(message, { ...deps, handle }, stop)
}

function handledOf(taken: Taken, at: number): Handled {
  const one = taken.kind === 'taken' ? taken.outcomes[at] : undefined
  if (one === undefined) return failed('The database has said nothing of the event', false)
  if (one.outcome === 'refused') return failed(one.error ?? 'The database refuses the event')
  return { kind: one.outcome === 'taken' ? 'done' : 'known' }
}

function failed(error: string, isFinal = true): Handled {
  return { kind: 'failed', error, isFinal }
}
