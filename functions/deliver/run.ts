import { type ActiveRun, createRun, type RunDeps, type RunSummary } from './active_run.ts'
import { dispatchDueAt, endReason, freeSlots } from './due.ts'
import type { RunOptions } from './options.ts'
import { isNeverStored } from './refusal.ts'
import { isHalted, turn } from './turn.ts'

/**
 * Claims and sends until a limit is reached, the queue stays empty, or `deps.stop` is aborted. Each
 * dispatch reports results and claims as many deliveries as slots are free; several may be in flight
 * at once. No result is dropped while the database responds. Returns the counts of the run.
 */
export async function run(deps: RunDeps, options: RunOptions): Promise<RunSummary> {
  const active = createRun(deps, options)
  const { state, summary, alarm } = active
  const ring = (): void => alarm.ring()
  deps.stop.addEventListener('abort', ring)
  const unsubscribe = deps.waker?.subscribe(() => {
    state.isWoken = true
    ring()
  })
  try {
    await claimUntilEnd(active)
    if (state.end !== 'database') await finish(active)
    if (state.end === 'database') await awaitOutstanding(active)
  } finally {
    deps.stop.removeEventListener('abort', ring)
    unsubscribe?.()
    await Promise.all([...deps.senders.values()].map((sender) => sender.closeIdle?.()))
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
 * Marks the run as ended, so that the next one may start, and records the results of sends that are
 * still in flight. An idle run claims once more in the same call, because the commit of a new event
 * sent no kick while this run was alive. A database that refuses the contract of the run still records
 * its results.
 */
async function finish(active: ActiveRun): Promise<void> {
  const { deps: { clock }, state, alarm } = active
  const isNeverCounted = state.seq === 0 || state.end === 'contract' ||
    state.seq === 1 && isNeverStored(state.end)
  await closeRenewals(active)
  if (!isNeverCounted) {
    await turn(active, state.end === 'idle' ? freeSlots(state, active.options) : 0, true)
  }
  const isOpen = (): boolean => state.outstanding + state.results.length + state.parts.length > 0
  while (state.end !== 'database' && isOpen()) {
    await closeRenewals(active)
    const due = state.outstanding === 0 ? clock.now() : dispatchDueAt(state, active.options)
    if (due > clock.now()) await alarm.wait(due)
    else await turn(active, 0, true)
  }
}

/** Once nothing more is sent: the call that follows releases the deliveries that request a lease. */
async function closeRenewals(active: ActiveRun): Promise<void> {
  if (isHalted(active) && active.renewals.close()) await active.deps.yieldTurn()
}

/** Without a database the leases expire; sends in flight are awaited all the same. */
async function awaitOutstanding({ state, alarm, renewals }: ActiveRun): Promise<void> {
  renewals.close()
  while (state.outstanding > 0) await alarm.wait(Infinity)
}
