import type { Result } from '../_shared/contract/contract.ts'
import { type Known, knowNothing } from './known.ts'

/** Why a run ends. */
export type EndReason =
  | 'idle'
  | 'signal'
  | 'max_wall'
  | 'max_deliveries'
  | 'max_cpu'
  | 'database'
  /** The versions of functions and database do not work together. */
  | 'contract'
  /** An answer could not be read; what it claimed was given back. */
  | 'unreadable'
  /** The database's own word: `too_many_runs` or `disabled`. */
  | `stop:${string}`

/** A run between two dispatches. All times are on the run's monotonic clock. */
export type RunState = {
  readonly startedAt: number
  seq: number
  /** The numbers of the dispatches that are not answered yet, the oldest first. */
  readonly inFlight: number[]
  /** The slots that these offer. */
  offered: number
  /** Claimed and without a result. */
  outstanding: number
  /** Those of them that are on their way, or next in a chain of which one is. */
  begun: number
  /**
   * Those of them that were claimed so long ago that they no longer take a slot, begun or not.
   */
  slow: number
  /** Waiting for the next dispatch. */
  results: Result[]
  oldestResultAt: number
  /** The results of refused calls; each group is reported in its own call. */
  readonly parts: Result[][]
  /** Since when a chain wants a new lease; Infinity while none does. */
  renewalAt: number
  /** When the last answer came; -Infinity before the first. */
  answeredAt: number
  /** Whether the last answer filled all slots that were offered, so that more is waiting. */
  wasFull: boolean
  /** When work was last seen. */
  workedAt: number
  /** When the last lease in hand lapses. */
  leasedUntil: number
  claimed: number
  known: Known
  /** Process CPU since the run began, as of the last answer; 0 where the runtime does not tell. */
  cpuMs: number
  /** Why the tick does not run, from the last response; null if it runs. */
  problem: string | null
  end: EndReason | null
}

/** The state of a run that begins now. */
export function beginState(now: number): RunState {
  return {
    startedAt: now,
    seq: 0,
    inFlight: [],
    offered: 0,
    outstanding: 0,
    begun: 0,
    slow: 0,
    results: [],
    oldestResultAt: 0,
    parts: [],
    renewalAt: Infinity,
    answeredAt: -Infinity,
    wasFull: false,
    workedAt: now,
    leasedUntil: now,
    claimed: 0,
    known: knowNothing(now),
    cpuMs: 0,
    problem: null,
    end: null,
  }
}
