import type { RunOptions } from './options.ts'
import type { EndReason, RunState } from './state.ts'

/**
 * When the next dispatch should go out. Results wait for company, so that the batch grows with the
 * load; enough of its slots free is reason to go, at once while the queue is full and after
 * `spacingMs` otherwise, since an endpoint with a small cap would else be served once in
 * `gatherMs`, and a light load would keep the database busy. A lane that wants a new lease waits for
 * company too.
 */
export function dispatchDueAt(state: RunState, options: RunOptions): number {
  if (!mayOverlap(state, options)) return Infinity
  if (state.parts.length > 0) return -Infinity
  const free = openSlots(state, options)
  let due = state.renewalAt + options.gatherMs
  if (state.results.length > 0) {
    due = Math.min(due, state.oldestResultAt + patience(state, options))
    if (free >= enoughSlots(state, options)) {
      due = Math.min(due, state.wasFull ? state.answeredAt : state.answeredAt + options.spacingMs)
    }
  }
  if (state.end !== null || free <= 0 || state.inFlight.length > 0) return due
  const pause = Math.max(pollInterval(state, options), patience(state, options))
  return Math.min(due, state.answeredAt + pause)
}

/**
 * Whether one more dispatch may be made before the others are answered. The database remembers the
 * last eight of a run, so that one whose answer was lost can be asked for again.
 */
function mayOverlap({ seq, inFlight }: RunState, { maxDispatches }: RunOptions): boolean {
  const [oldest = seq] = inFlight
  return inFlight.length < maxDispatches && seq - oldest < 7
}

/**
 * How long a result waits for company: longer while the database has more waiting than the run can
 * take, so that it is asked less often for more.
 */
function patience({ wasFull }: RunState, { gatherMs, fullGatherMs }: RunOptions): number {
  return wasFull ? fullGatherMs : gatherMs
}

/**
 * How many free slots are reason to go. While another dispatch is on its way the database has work,
 * so that this one may wait for all but the last stragglers.
 */
function enoughSlots({ inFlight }: RunState, options: RunOptions): number {
  return shareOf(options) * (inFlight.length > 0 ? 7 / 8 : options.enoughShare)
}

function pollInterval(state: RunState, options: RunOptions): number {
  const isBusy = state.answeredAt - state.workedAt < options.busyMs
  return isBusy ? options.pollMs : options.idlePollMs
}

/** Whether the run should stop claiming, and why. */
export function endReason(state: RunState, options: RunOptions, now: number): EndReason | null {
  const { maxDeliveries } = options
  if (state.end !== null) return state.end
  const limit = limitReached(state, options, now)
  if (limit !== null) return limit
  if (maxDeliveries !== null && state.claimed >= maxDeliveries) return 'max_deliveries'
  const isIdle = state.outstanding + state.inFlight.length === 0 &&
    state.results.length + state.parts.length === 0 && now - state.workedAt >= options.busyMs
  return options.kind === 'edge' && isIdle ? 'idle' : null
}

/**
 * Whether nothing more is begun. A run that is idle, or has claimed its share, sends what it has,
 * but not behind its other limits.
 */
export function mayNotBegin(state: RunState, options: RunOptions, now: number): boolean {
  return !isGentle(state.end) || limitReached(state, options, now) !== null
}

/** Whether a run that ends so sends what it has claimed. */
export function isGentle(end: EndReason | null): boolean {
  return end === null || end === 'idle' || end === 'max_deliveries'
}

/** The limit of time or of CPU that the run has reached. */
function limitReached(state: RunState, options: RunOptions, now: number): EndReason | null {
  const { maxWallMs, maxCpuMs } = options
  if (maxWallMs !== null && now - state.startedAt >= maxWallMs) return 'max_wall'
  return maxCpuMs !== null && state.cpuMs >= maxCpuMs ? 'max_cpu' : null
}

/** How many deliveries the next dispatch may bring. */
export function freeSlots(state: RunState, options: RunOptions): number {
  const spoken = state.claimed + state.offered
  const left = options.maxDeliveries === null ? Infinity : options.maxDeliveries - spoken
  const { batchSize } = options
  return Math.max(0, Math.min(openSlots(state, options), shareOf(options), batchSize, left))
}

/** The slots of one dispatch, so that each of those on their way has some to offer. */
function shareOf({ slots, maxDispatches }: RunOptions): number {
  return Math.ceil(slots / maxDispatches)
}

/** Whether a chain should rather be given back than go on: others may be waiting for its place. */
export function isHandFull({ outstanding }: RunState, { maxInHand }: RunOptions): boolean {
  return outstanding > 3 / 4 * maxInHand
}

function openSlots(state: RunState, { slots, maxInHand }: RunOptions): number {
  const { outstanding, slow, offered } = state
  return Math.min(slots - (outstanding - slow), maxInHand - outstanding) - offered
}
