import type { Result } from '../_shared/contract/contract.ts'
import { emptyCache, type EndpointCache } from './endpoint_cache.ts'

/** Why a run ends. */
export type EndReason =
  | 'idle'
  | 'signal'
  | 'max_wall'
  | 'max_deliveries'
  | 'max_cpu'
  | 'database'
  /** Functions and database have no common contract. */
  | 'contract'
  /** A response could not be read; the deliveries that it claimed were released. */
  | 'unreadable'
  /** The reason of the database: `too_many_runs`, `disabled`, or one of refusal.ts. */
  | `stop:${string}`

/** A run between two dispatches. All times are in ms on the run's monotonic clock. */
export type RunState = {
  readonly startedAt: number
  seq: number
  /** The numbers of the dispatches without a response, the oldest first. */
  readonly inFlight: number[]
  /** The slots that dispatches in flight offer. */
  offered: number
  /** Claimed deliveries without a result. */
  outstanding: number
  /** The outstanding deliveries by organisation; one without any has no entry. */
  readonly heldBy: Map<string, number>
  /** Outstanding deliveries in a chain that is being sent. */
  started: number
  /** Outstanding deliveries that were claimed over `slowMs` ago; they use no slot, started or not. */
  slow: number
  /** Results for the next dispatch. */
  results: Result[]
  oldestResultAt: number
  /** The results of refused calls; each group is reported in its own call. */
  readonly parts: Result[][]
  /** The time of the first open request for a new lease; Infinity: there is none. */
  renewalAt: number
  /** When the first response came; Infinity before it. */
  firstResponseAt: number
  /** When the last response came; -Infinity before the first. */
  respondedAt: number
  /** How long the call of the last response took. */
  callMs: number
  /** How long the fastest call took; Infinity before the first response. */
  fastestMs: number
  /** Whether a notification said that there may be work that no call has asked for yet. */
  isWoken: boolean
  /** When the call after the last notification found nothing; -Infinity if it found work. */
  wokenInVainAt: number
  /** Whether the last response filled all slots that were offered, so more deliveries are due. */
  wasFull: boolean
  /** Whether the last call left work and free slots because organisations take turns. */
  wasCut: boolean
  /** When a response last brought work. */
  workedAt: number
  /** When the last lease of the run expires. */
  leasedUntil: number
  claimed: number
  known: EndpointCache
  /** CPU time since the run started, as of the last response; 0 if the runtime does not report it. */
  cpuMs: number
  /** The problem of the last response: why the tick does not run, or the run gets nothing. */
  problem: string | null
  end: EndReason | null
}

/** The state of a run that starts now. */
export function initialState(now: number, problem: string | null = null): RunState {
  return {
    startedAt: now,
    seq: 0,
    inFlight: [],
    offered: 0,
    outstanding: 0,
    heldBy: new Map(),
    started: 0,
    slow: 0,
    results: [],
    oldestResultAt: 0,
    parts: [],
    renewalAt: Infinity,
    firstResponseAt: Infinity,
    respondedAt: -Infinity,
    callMs: 0,
    fastestMs: Infinity,
    isWoken: false,
    wokenInVainAt: -Infinity,
    wasFull: false,
    wasCut: false,
    workedAt: now,
    leasedUntil: now,
    claimed: 0,
    known: emptyCache(now),
    cpuMs: 0,
    problem,
    end: null,
  }
}
