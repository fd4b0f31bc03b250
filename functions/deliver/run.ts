import { addressRules, type PolicySource } from '../_shared/connect/address.ts'
import type { DispatchAnswer, Result } from '../_shared/contracts.ts'
import type { Transport } from '../_shared/transport/transport.ts'
import type { KeyCache } from '../_shared/sign.ts'
import { createAlarm } from './alarm.ts'
import type { AttemptDeps, Batch } from './attempt.ts'
import { chainsOf, sendChain } from './chains.ts'
import { dispatchDueAt, endReason, freeSlots } from './due.ts'
import { createHand } from './hand.ts'
import { type RunOptions, withSettings } from './options.ts'
import { type Answered, dispatchUntilAnswered, type RedispatchDeps } from './redispatch.ts'
import { beginState, type EndReason } from './state.ts'

export type RunDeps = RedispatchDeps & AttemptDeps & {
  transport: Transport
  keys: KeyCache
  policyOf: PolicySource
  /** Aborted by SIGTERM or `beforeunload`: the run sends nothing new, finishes what is on its way, and ends. */
  stop: AbortSignal
  /** A new id for the run. */
  uuid(): string
  /** The process's CPU time so far, user and system; null where the runtime does not tell. */
  cpuMs(): number | null
  /** Sees each result as it is noted. */
  observe(result: Result): void
}

export type RunSummary = {
  run: string
  end: EndReason
  delivered: number
  failed: number
  released: number
  /** Results that the database did not take, because the lease was over. */
  stale: number
  dispatches: number
}

/** A database that answers nothing is given this long beyond the leases in hand. */
const patienceMs = 10_000

/**
 * Claims and sends until the budget is used, the queue stays empty, or `stop` is aborted. One dispatch is in flight at a
 * time; it brings results in and as many deliveries out as slots are free. No result is dropped while the database answers.
 */
export async function run(deps: RunDeps, initial: RunOptions): Promise<RunSummary> {
  const { clock, log, stop } = deps
  const state = beginState(clock.now())
  const alarm = createAlarm(clock)
  let options = initial
  const summary: RunSummary = {
    run: deps.uuid(),
    end: 'idle',
    delivered: 0,
    failed: 0,
    released: 0,
    stale: 0,
    dispatches: 0,
  }
  const cpuAtStart = deps.cpuMs()
  const hand = createHand({ clock, state, slowMs: options.slowMs, onSlow: wakeIfDue })

  /** Idle and spent runs still send what they have claimed. */
  function isHalted(): boolean {
    const reason = stop.aborted ? 'signal' : endReason(state, options, clock.now())
    return reason !== null && reason !== 'idle' && reason !== 'max_deliveries'
  }

  function note(result: Result): void {
    if (state.results.length === 0) state.oldestResultAt = clock.now()
    state.results.push(result)
    summary[result.outcome]++
    deps.observe(result)
    wakeIfDue()
  }

  function wakeIfDue(): void {
    if (state.outstanding === 0 || dispatchDueAt(state, options) < alarm.wakesAt) alarm.ring()
  }

  function giveUpAt(firstCallAt: number): number {
    if (options.kind === 'worker' && !stop.aborted) return Infinity
    return Math.max(state.leasedUntil, firstCallAt + patienceMs)
  }

  /** One dispatch. When the database does not take it the run is over: `state.end` says so. */
  async function turn(limit: number, ended: boolean): Promise<void> {
    const results = state.results
    state.results = []
    const call = { run: summary.run, seq: ++state.seq, results, limit, kind: options.kind, ended }
    const answered = await dispatchUntilAnswered(deps, call, giveUpAt)
    summary.dispatches++
    if (answered === null) state.end = 'database'
    else take(answered, limit)
  }

  function take({ answer, calledAt }: Answered, limit: number): void {
    const { deliveries, settings, error } = answer
    const now = clock.now()
    options = withSettings(initial, settings)
    summary.stale += answer.stale
    state.answeredAt = now
    state.wasFull = limit > 0 && deliveries.length >= limit
    state.cpuMs = (deps.cpuMs() ?? 0) - (cpuAtStart ?? 0)
    state.claimed += deliveries.length
    if (deliveries.length > 0 || answer.routed > 0) state.workedAt = now
    if (answer.stop !== null) state.end ??= `stop:${answer.stop}`
    if (error !== null) {
      const text = [error.route, error.claim].filter(Boolean).join('; ')
      log('warn', 'dispatch reports an error', { run: summary.run, error: text })
    }
    const batch = batchOf(answer, calledAt, deps)
    for (const { lease_ms } of deliveries) {
      state.leasedUntil = Math.max(state.leasedUntil, calledAt + lease_ms)
    }
    const putDown = hand.take(deliveries.length)
    const chainDeps = {
      ...deps,
      leaseMarginMs: options.leaseMarginMs,
      isHalted,
      note: (result: Result) => {
        putDown()
        note(result)
      },
    }
    for (const chain of chainsOf(deliveries)) void sendChain(chainDeps, chain, batch)
  }

  async function claimUntilEnd(): Promise<void> {
    for (;;) {
      state.end ??= stop.aborted ? 'signal' : endReason(state, options, clock.now())
      if (state.end !== null) return
      const due = dispatchDueAt(state, options)
      if (due > clock.now()) await alarm.wait(due)
      else await turn(freeSlots(state, options), false)
    }
  }

  /**
   * Marks the run ended, so that the next one may begin, and records what is still on its way. An idle run claims once more
   * in the same call: work committed just before it kicked nobody, since this run was alive.
   */
  async function finish(): Promise<void> {
    const isUnknown = state.seq === 0 || state.seq === 1 && state.end === 'stop:too_many_runs'
    if (!isUnknown) await turn(state.end === 'idle' ? freeSlots(state, options) : 0, true)
    while (state.end !== 'database' && state.outstanding + state.results.length > 0) {
      const due = state.outstanding === 0 ? clock.now() : dispatchDueAt(state, options)
      if (due > clock.now()) await alarm.wait(due)
      else await turn(0, true)
    }
  }

  /** Without a database the leases end by themselves; what is on its way is waited for all the same. */
  async function abandon(): Promise<void> {
    while (state.outstanding > 0) await alarm.wait(Infinity)
  }

  const ring = (): void => alarm.ring()
  stop.addEventListener('abort', ring)
  try {
    await claimUntilEnd()
    if (state.end !== 'database') await finish()
    if (state.end === 'database') await abandon()
  } finally {
    stop.removeEventListener('abort', ring)
  }
  summary.end = state.end ?? 'idle'
  return summary
}

function batchOf(answer: DispatchAnswer, calledAt: number, deps: RunDeps): Batch {
  const { settings } = answer
  return {
    answer,
    calledAt,
    deps: {
      transport: deps.transport,
      keys: deps.keys,
      settings,
      policy: deps.policyOf(addressRules(settings)),
      wallNow: deps.clock.wallNow,
    },
  }
}
