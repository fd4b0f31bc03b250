import type { Result } from '../_shared/contracts.ts'

/** Why a run ends. */
export type EndReason =
  | 'idle'
  | 'signal'
  | 'max_wall'
  | 'max_deliveries'
  | 'database'
  /** The database's own word: `too_many_runs` or `disabled`. */
  | `stop:${string}`

/** A run between two dispatches. All times are on the run's monotonic clock. */
export type RunState = {
  readonly startedAt: number
  seq: number
  /** Claimed and without a result: each takes one slot. */
  outstanding: number
  /** Waiting for the next dispatch. */
  results: Result[]
  oldestResultAt: number
  /** When the last answer came; -Infinity before the first. */
  answeredAt: number
  /** Whether the last answer filled all slots that were offered, so that more is waiting. */
  wasFull: boolean
  /** When work was last seen. */
  workedAt: number
  /** When the last lease in hand lapses. */
  leasedUntil: number
  claimed: number
  end: EndReason | null
}

/** The state of a run that begins now. */
export function beginState(now: number): RunState {
  return {
    startedAt: now,
    seq: 0,
    outstanding: 0,
    results: [],
    oldestResultAt: 0,
    answeredAt: -Infinity,
    wasFull: false,
    workedAt: now,
    leasedUntil: now,
    claimed: 0,
    end: null,
  }
}
