import type { PolicySource } from '../_shared/connect/address.ts'
import type { ContractRefusal } from '../_shared/contract/range.ts'
import type { Delivery, Result, Retry } from '../_shared/contract/contract.ts'
import type { KeyCache } from '../_shared/signing/sign.ts'
import type { Transport } from '../_shared/transport/transport.ts'
import { type Alarm, createAlarm } from './alarm.ts'
import type { AttemptDeps } from './attempt.ts'
import { dispatchDueAt } from './due.ts'
import { createHand, type Hand } from './hand.ts'
import type { RunOptions } from './options.ts'
import type { RedispatchDeps } from './redispatch.ts'
import { createRenewals, type Renewals } from './renewals.ts'
import { beginState, type EndReason, type RunState } from './state.ts'
import { createTrouble, type Trouble } from './trouble.ts'
import { createWindow, type Window } from './window.ts'

export type RunDeps = RedispatchDeps & AttemptDeps & {
  transport: Transport
  keys: KeyCache
  policyOf: PolicySource
  /**
   * Aborted by SIGTERM or `beforeunload`: the run sends nothing new, finishes what is on its way,
   * and ends.
   */
  stop: AbortSignal
  /** A new id for the run. */
  uuid(): string
  /** Lets the event loop go on with what has come; it never rejects. */
  yieldTurn(): Promise<void>
  /** The process's CPU time so far, user and system; null where the runtime does not tell. */
  cpuMs(): number | null
  /** Called for each response of dispatch, with the refusal if the versions do not work together. */
  begun?(refusal: ContractRefusal | null): void
  /** Sees each result as it is noted. */
  observe(result: Result, delivery: Delivery): void
  /** Sees what follows failed attempts, once the database has taken their results. */
  follow(retries: readonly Retry[]): void
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

/** A run from its first dispatch to its end. */
export type ActiveRun = {
  readonly deps: RunDeps
  /** What it began with. */
  readonly initial: RunOptions
  /** The same under the settings that came with the last answer. */
  options: RunOptions
  readonly state: RunState
  readonly summary: RunSummary
  readonly cpuAtStart: number
  /** Where it sleeps while no dispatch is due. */
  readonly alarm: Alarm
  readonly hand: Hand
  readonly window: Window
  readonly renewals: Renewals
  readonly trouble: Trouble
}

/** Makes a run that has done nothing yet. */
export function beginRun(deps: RunDeps, initial: RunOptions): ActiveRun {
  const { clock } = deps
  const state = beginState(clock.now())
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
    hand: createHand({ clock, state, slowMs: initial.slowMs, onSlow: () => wakeIfDue(run) }),
    window: createWindow({
      clock,
      state,
      size: initial.window,
      step: initial.windowStep,
      patienceMs: initial.windowMs,
    }),
    trouble: createTrouble(deps.log),
    renewals: createRenewals(() => {
      state.renewalAt = Math.min(state.renewalAt, clock.now())
      wakeIfDue(run)
    }),
  }
  return run
}

/** Wakes the run when the next dispatch is due before it would wake by itself. */
export function wakeIfDue({ state, options, alarm }: ActiveRun): void {
  if (state.outstanding === 0 || dispatchDueAt(state, options) < alarm.wakesAt) alarm.ring()
}
