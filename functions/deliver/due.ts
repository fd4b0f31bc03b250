import type { RunOptions } from './options.ts'
import type { EndReason, RunState } from './state.ts'

/**
 * When the next dispatch should go out. Results wait up to `gatherMs` for company, so that the
 * batch grows with the load; half of the slots free is reason enough, at once while the queue is
 * full and after `spacingMs` otherwise, since an endpoint with a small cap would else be served
 * once in `gatherMs`, and a light load would keep the database busy.
 */
export function dispatchDueAt(state: RunState, options: RunOptions): number {
  const free = openSlots(state, options)
  let due = Infinity
  if (state.results.length > 0) {
    due = state.oldestResultAt + options.gatherMs
    if (free * 2 >= options.slots) {
      due = Math.min(due, state.wasFull ? state.answeredAt : state.answeredAt + options.spacingMs)
    }
  }
  if (state.end !== null || free <= 0) return due
  return Math.min(due, state.answeredAt + pollInterval(state, options))
}

function pollInterval(state: RunState, options: RunOptions): number {
  const isBusy = state.answeredAt - state.workedAt < options.busyMs
  return isBusy ? options.pollMs : options.idlePollMs
}

/** Whether the run should stop claiming, and why. */
export function endReason(state: RunState, options: RunOptions, now: number): EndReason | null {
  const { maxWallMs, maxDeliveries, maxCpuMs } = options
  if (state.end !== null) return state.end
  if (maxWallMs !== null && now - state.startedAt >= maxWallMs) return 'max_wall'
  if (maxCpuMs !== null && state.cpuMs >= maxCpuMs) return 'max_cpu'
  if (maxDeliveries !== null && state.claimed >= maxDeliveries) return 'max_deliveries'
  const isIdle = state.outstanding === 0 && state.results.length === 0 &&
    now - state.workedAt >= options.busyMs
  return options.kind === 'edge' && isIdle ? 'idle' : null
}

/** How many deliveries the next dispatch may bring. */
export function freeSlots(state: RunState, options: RunOptions): number {
  const left = options.maxDeliveries === null ? Infinity : options.maxDeliveries - state.claimed
  return Math.max(0, Math.min(openSlots(state, options), left))
}

function openSlots(state: RunState, { slots, maxInHand }: RunOptions): number {
  const { outstanding, slow } = state
  return Math.min(slots - (outstanding - slow), maxInHand - outstanding)
}
