import type { PolicySource } from '../_shared/connect/address.ts'
import type { Delivery, Result, Retry, WorkerFacts } from '../_shared/contract/contract.ts'
import type { KeyCache } from '../_shared/signing/sign.ts'
import type { Waker } from '../_shared/database/waking.ts'
import type { Transport } from '../_shared/transport/transport.ts'
import { type Alarm, createAlarm } from './alarm.ts'
import type { AttemptDeps } from './attempt.ts'
import { dispatchDueAt } from './due.ts'
import { createOutstanding, type Outstanding } from './outstanding.ts'
import type { RunOptions } from './options.ts'
import type { RunRefusal } from './refusal.ts'
import type { RedispatchDeps } from './redispatch.ts'
import { createRenewals, type Renewals } from './renewals.ts'
import { type EndReason, initialState, type RunState } from './state.ts'
import { createFaultLog, type FaultLog } from './fault_log.ts'
import { createWindow, type Window } from './window.ts'

export type RunDeps = RedispatchDeps & AttemptDeps & {
  transport: Transport
  keys: KeyCache
  policyOf: PolicySource
  /** Aborted by SIGTERM or `beforeunload`: the run sends nothing new, awaits open sends and ends. */
  stop: AbortSignal
  uuid(): string
  /** Yields to the event loop once; it never rejects. */
  yieldTurn(): Promise<void>
  /** The process's CPU time so far in ms, user and system; null if the runtime does not report it. */
  cpuMs(): number | null
  /** The database that sent the kick, if the kick names it. */
  kick?: string | null
  /** Tells the run of work before its next poll; absent: it polls only. */
  waker?: Pick<Waker, 'isListening' | 'start' | 'subscribe'>
  /** What a worker says about itself while it holds so many deliveries; absent: nothing. */
  describe?(inFlight: number): WorkerFacts
  /** The last problem that a run logged, so that the runs of a worker log it once. */
  said?: { problem: string | null }
  /** Called for each dispatch response, with the refusal if the run gets nothing. */
  dispatched?(refusal: RunRefusal | null): void
  /** Called for each result when it is recorded. */
  observe(result: Result, delivery: Delivery): void
  /** Called with the decisions (retry or dead letter) after the database has stored failed results. */
  follow(retries: readonly Retry[]): void
}

export type RunSummary = {
  run: string
  end: EndReason
  delivered: number
  failed: number
  released: number
  /** Results that the database rejected because the lease had expired. */
  stale: number
  dispatches: number
}

/** A run from its first dispatch to its end. */
export type ActiveRun = {
  readonly deps: RunDeps
  /** The options at the start, without the database's settings. */
  readonly initial: RunOptions
  /** `initial` with the settings of the last response. */
  options: RunOptions
  readonly state: RunState
  readonly summary: RunSummary
  readonly cpuAtStart: number
  /** The run sleeps here while no dispatch is due. */
  readonly alarm: Alarm
  readonly outstanding: Outstanding
  readonly window: Window
  readonly renewals: Renewals
  readonly faultLog: FaultLog
}

/** Creates a run that has made no call yet. */
export function createRun(deps: RunDeps, initial: RunOptions): ActiveRun {
  const { clock } = deps
  const state = initialState(clock.now(), deps.said?.problem ?? null)
  const run: ActiveRun = {
    deps,
    initial,
    options: initial,
    state,
    summary: {
      run: deps.uuid(),
      end: 'idle',
      delivered: 0,
      failed: 0,
      released: 0,
      stale: 0,
      dispatches: 0,
    },
    cpuAtStart: deps.cpuMs() ?? 0,
    alarm: createAlarm(clock),
    outstanding: createOutstanding({
      clock,
      state,
      slowMs: initial.slowMs,
      onSlow: () => wakeIfDue(run),
    }),
    window: createWindow({
      clock,
      state,
      size: initial.window,
      step: initial.windowStep,
      patienceMs: initial.windowMs,
    }),
    faultLog: createFaultLog(deps.log),
    renewals: createRenewals(() => {
      state.renewalAt = Math.min(state.renewalAt, clock.now())
      wakeIfDue(run)
    }),
  }
  return run
}

/** Wakes the run if the next dispatch is due before its alarm. */
export function wakeIfDue({ state, options, alarm }: ActiveRun): void {
  if (state.outstanding === 0 || dispatchDueAt(state, options) < alarm.wakesAt) alarm.ring()
}
