import { type ActiveRun, beginRun, type RunDeps, type RunSummary } from './active_run.ts'
import { dispatchDueAt, endReason, freeSlots } from './due.ts'
import type { RunOptions } from './options.ts'
import type { RunState } from './state.ts'
import { isHalted, turn } from './turn.ts'

/**
 * Claims and sends until the budget is used, the queue stays empty, or `deps.stop` is aborted. A
 * dispatch brings results in and as many deliveries out as slots are free; a few may be on their
 * way at once. No result is dropped while the database answers.
 */
export async function run(deps: RunDeps, options: RunOptions): Promise<RunSummary> {
  const active = beginRun(deps, options)
  const { state, summary, alarm } = active
  const ring = (): void => alarm.ring()
  deps.stop.addEventListener('abort', ring)
  try {
    await claimUntilEnd(active)
    if (!isCutOff(state)) await finish(active)
    if (isCutOff(state)) await abandon(active)
  } finally {
    deps.stop.removeEventListener('abort', ring)
    await Promise.all([...deps.senders.values()].map((sender) => sender.rest?.()))
  }
  summary.end = state.end ?? 'idle'
  return summary
}

async function claimUntilEnd(active: ActiveRun): Promise<void> {
  const { deps: { clock, stop }, state, alarm } = active
  const turns = new Set<Promise<void>>()

  function begin(): void {
    const begun = turn(active, freeSlots(state, active.options), false).finally(() => {
      turns.delete(begun)
      alarm.ring()
    })
    turns.add(begun)
  }

  for (;;) {
    state.end ??= stop.aborted ? 'signal' : endReason(state, active.options, clock.now())
    if (state.end !== null) break
    const due = dispatchDueAt(state, active.options)
    if (due <= clock.now()) begin()
    else await Promise.race([alarm.wait(due), ...turns])
  }
  await Promise.all(turns)
}

/**
 * Marks the run ended, so that the next one may begin, and records what is still on its way. An
 * idle run claims once more in the same call: work committed just before it kicked nobody, since
 * this run was alive.
 */
async function finish(active: ActiveRun): Promise<void> {
  const { deps: { clock }, state, alarm } = active
  const isUnknown = state.seq === 0 || state.seq === 1 && state.end === 'stop:too_many_runs'
  await letGo(active)
  if (!isUnknown) {
    await turn(active, state.end === 'idle' ? freeSlots(state, active.options) : 0, true)
  }
  const isOpen = (): boolean => state.outstanding + state.results.length + state.parts.length > 0
  while (!isCutOff(state) && isOpen()) {
    await letGo(active)
    const due = state.outstanding === 0 ? clock.now() : dispatchDueAt(state, active.options)
    if (due > clock.now()) await alarm.wait(due)
    else await turn(active, 0, true)
  }
}

/** Once nothing more is begun: what wants a new lease is released by the call that follows. */
async function letGo(active: ActiveRun): Promise<void> {
  if (isHalted(active) && active.renewals.close()) await active.deps.yieldTurn()
}

/** Whether this run makes no more calls to the database. */
function isCutOff({ end }: RunState): boolean {
  return end === 'database' || end === 'contract'
}

/**
 * Without a database the leases end by themselves; what is on its way is waited for all the same.
 */
async function abandon({ state, alarm, renewals }: ActiveRun): Promise<void> {
  renewals.close()
  while (state.outstanding > 0) await alarm.wait(Infinity)
}
