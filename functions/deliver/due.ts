import type { RunOptions } from './options.ts'
import type { EndReason, RunState } from './state.ts'

/**
 * When the next dispatch is due, in ms on the run's clock; Infinity: not before something changes.
 * Results wait for others, so batches grow with the load. A dispatch is due earlier when enough slots
 * are free: at once while the queue is full, else after `spacingMs`. It is due at once, also without results, after a
 * call that left work because organisations take turns, which fills few of the slots. With few results it is due after
 * spacing(), and not early while another one is in flight. Without early dispatches an endpoint with a
 * small limit of requests in flight would be served only once in `gatherMs`. Without the spacing a
 * light load would keep the database busy, and many workers would make ever smaller calls. Lease
 * renewals wait for others too. After a notification, a dispatch is due at once, because a commit
 * notifies only if all workers sleep. But if the call after the last notification found nothing,
 * because another worker was faster, the next one waits for `pollMs`.
 */
export function dispatchDueAt(state: RunState, options: RunOptions): number {
  if (!mayOverlap(state, options)) return Infinity
  if (state.parts.length > 0) return -Infinity
  const free = openSlots(state, options)
  let due = state.renewalAt + options.gatherMs
  const isEnough = free >= enoughSlots(state, options)
  if (state.wasCut && state.end === null && isEnough) due = Math.min(due, state.respondedAt)
  if (state.results.length > 0) {
    due = Math.min(due, state.oldestResultAt + gatherTime(state, options))
    if (isEnough) {
      if (state.wasFull) due = Math.min(due, state.respondedAt)
      else if (state.results.length >= options.enoughResults) {
        due = Math.min(due, state.respondedAt + options.spacingMs)
      } else if (state.inFlight.length === 0) {
        due = Math.min(due, state.respondedAt + spacing(state, options))
      }
    }
  }
  if (state.end !== null || free <= 0 || state.inFlight.length > 0) return due
  if (state.isWoken) return Math.min(due, state.wokenInVainAt + options.pollMs)
  const pause = Math.max(pollInterval(state, options), gatherTime(state, options))
  return Math.min(due, state.respondedAt + pause)
}

/**
 * Whether one more dispatch may start before the others have responses. The database stores the last
 * eight responses of a run, so that a lost one can be requested again.
 */
function mayOverlap({ seq, inFlight }: RunState, { maxDispatches }: RunOptions): boolean {
  const [oldest = seq] = inFlight
  return inFlight.length < maxDispatches && seq - oldest < 7
}

/**
 * How long a result waits for others: longer while the queue is full or the database is busy, so that
 * dispatches are fewer.
 */
function gatherTime(state: RunState, { gatherMs, fullGatherMs }: RunOptions): number {
  return state.wasFull ? fullGatherMs : Math.min(fullGatherMs, Math.max(gatherMs, busyMs(state)))
}

/**
 * The pause after a response if there are few results: as long as the call took because the database is
 * busy, within bounds. If the endpoints limit what all workers have in flight, each worker has few
 * results at a time. A call of any size costs the database 3 ms, so the busier it is, the fewer are made.
 */
function spacing(state: RunState, { spacingMs, fullGatherMs }: RunOptions): number {
  return Math.min(fullGatherMs, Math.max(spacingMs, busyMs(state)))
}

/** How much longer the last call took than the fastest one, which has the way to the database and back. */
function busyMs({ callMs, fastestMs }: RunState): number {
  return Math.max(0, callMs - fastestMs)
}

/**
 * How many free slots make a dispatch due. While another dispatch is in flight the database is busy,
 * so this one waits for nearly all of its slots.
 */
function enoughSlots({ inFlight }: RunState, options: RunOptions): number {
  return shareOf(options) * (inFlight.length > 0 ? 7 / 8 : options.enoughShare)
}

function pollInterval(state: RunState, options: RunOptions): number {
  const idleMs = state.respondedAt - state.workedAt
  if (idleMs < options.busyMs) return options.pollMs
  return idleMs < options.restAfterMs ? options.idlePollMs : options.restPollMs
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

/** Whether nothing more is sent. A run that ends as idle or at `maxDeliveries` sends what it claimed. */
export function mustNotSend(state: RunState, options: RunOptions, now: number): boolean {
  return !sendsTheRest(state.end) || limitReached(state, options, now) !== null
}

/** Whether a run that ends for this reason still sends what it has claimed. */
export function sendsTheRest(end: EndReason | null): boolean {
  return end === null || end === 'idle' || end === 'max_deliveries'
}

function limitReached(state: RunState, options: RunOptions, now: number): EndReason | null {
  const { maxWallMs, maxCpuMs } = options
  // From the first response: otherwise a run whose first call takes as long would send nothing.
  if (maxWallMs !== null && now - state.firstResponseAt >= maxWallMs) return 'max_wall'
  return maxCpuMs !== null && state.cpuMs >= maxCpuMs ? 'max_cpu' : null
}

/** How many deliveries the next dispatch may claim. */
export function freeSlots(state: RunState, options: RunOptions): number {
  const taken = state.claimed + state.offered
  const left = options.maxDeliveries === null ? Infinity : options.maxDeliveries - taken
  const { batchSize } = options
  return Math.max(0, Math.min(openSlots(state, options), shareOf(options), batchSize, left))
}

/** The most slots of one dispatch: an equal share, so that each dispatch in flight can claim. */
function shareOf({ slots, maxDispatches }: RunOptions): number {
  return Math.ceil(slots / maxDispatches)
}

/** Whether an ordered chain should be released instead of continued, so that others can be claimed. */
export function isNearlyFull({ outstanding }: RunState, { maxOutstanding }: RunOptions): boolean {
  return outstanding > 3 / 4 * maxOutstanding
}

function openSlots(state: RunState, { slots, maxOutstanding }: RunOptions): number {
  const { outstanding, slow, offered } = state
  return Math.min(slots - (outstanding - slow), maxOutstanding - outstanding) - offered
}
