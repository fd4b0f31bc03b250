import type { RunKind, Settings } from '../_shared/contract/contract.ts'

/** How a run works; `withSettings` adds the operator's settings. All `...Ms` are milliseconds. */
export type RunOptions = {
  kind: RunKind
  /** Sends in flight at once. A send longer than `slowMs` keeps its lease but frees its slot. */
  slots: number
  slowMs: number
  /** The most deliveries of a run, slow ones included: more than the 1,000 that one endpoint may have. */
  maxOutstanding: number
  /** Sends in flight at once while responses come within `windowMs`. */
  window: number
  /** Sends that start together, without yielding; doubled each time `windowMs` passes without room. */
  windowStep: number
  /** Fewer start together if their bodies have more characters than this. */
  stepSize: number
  /** The longest wait for room in the window. */
  windowMs: number
  /** Dispatches in flight at once. With two, the database works while a response is handled. */
  maxDispatches: number
  /** The most deliveries of one response; Infinity before the first response. */
  batchSize: number
  /** The share of a dispatch's slots that must be free for an early dispatch. */
  enoughShare: number
  /** So many results are worth a dispatch of their own, also if the database is busy. */
  enoughResults: number
  /** How long a result waits for others, so that one dispatch records them together. */
  gatherMs: number
  /** The same while the queue is full. */
  fullGatherMs: number
  /** The shortest pause between two dispatches while the queue is not full. */
  spacingMs: number
  /** Between two polls if there was work within `busyMs`. */
  pollMs: number
  busyMs: number
  /** Between two polls without work for `busyMs`: a quarter of the operator's setting. */
  idlePollMs: number
  /** Between two polls without work for `restAfterMs`: three tenths of the setting, to save CPU. */
  restPollMs: number
  restAfterMs: number
  /** Time reserved at the end of a lease for recording the result. */
  leaseMarginMs: number
  /**
   * An ordered lane renews its lease if less than this would be left after the next send. A lease is
   * 5 s longer than a send; half of that gives the database time to respond.
   */
  renewMarginMs: number
  /** Whether the next two settings limit the run: a worker claims until it is stopped. */
  isBounded: boolean
  /** How long and how much the run claims; null: no limit, or before the first response. */
  maxWallMs: number | null
  maxDeliveries: number | null
  /** How long a run with results repeats calls to a database that does not respond; null: no limit. */
  lifeMs: number | null
  /** The CPU time after which a run stops claiming, if the runtime reports it; null: no limit. */
  maxCpuMs: number | null
}

const common = {
  slowMs: 100,
  maxOutstanding: 1_792,
  window: 64,
  windowStep: 16,
  stepSize: 262_144,
  windowMs: 2,
  batchSize: Infinity,
  enoughResults: 100,
  gatherMs: 20,
  fullGatherMs: 50,
  spacingMs: 5,
  pollMs: 25,
  busyMs: 5_000,
  idlePollMs: 25,
  restPollMs: 25,
  restAfterMs: 60_000,
  leaseMarginMs: 1_000,
  renewMarginMs: 2_500,
  maxWallMs: null,
  maxDeliveries: null,
}

/**
 * Options of an edge run: the platform allows 150 s of wall clock and 2 s of CPU. By default a run
 * claims for 25 s, so even the slowest delivery (15 s) fits. A dispatch of any size costs the database
 * 2.5 ms. So more slots help: four runs make 7,800 deliveries a second with 128 slots, 10,400 with 256,
 * and 7 % more with 384. 512 slots bring nothing, because worker.batch_size is 400. For the same reason
 * a run waits for nearly all of its slots (waiting for half caused a third more dispatches), and waits
 * 100 ms while the queue is full (7 % more deliveries than with 50 ms).
 */
export const edgeOptions: RunOptions = {
  ...common,
  kind: 'edge',
  slots: 384,
  maxDispatches: 1,
  enoughShare: 7 / 8,
  fullGatherMs: 100,
  isBounded: true,
  // The platform ends the run 30 s later.
  lifeMs: 120_000,
  maxCpuMs: 1_500,
}

/**
 * Options of a worker, which runs until it is stopped. With 1,024 slots it is a tenth faster than with
 * 512, because batches are fuller, and uses 10 MB more.
 */
export const workerOptions: RunOptions = {
  ...common,
  kind: 'worker',
  slots: 1_024,
  maxDispatches: 2,
  enoughShare: 1 / 2,
  isBounded: false,
  lifeMs: null,
  maxCpuMs: null,
}

/**
 * The options with the settings of a response. An idle run polls four times within
 * `worker.poll_interval_ms` (every 250 ms by default), but never more often than a busy one. After a minute
 * without work it polls every 300 ms. `kick.quiet_ms` is 500 ms, so commits know that the worker is awake even
 * if a call takes 200 ms.
 */
export function withSettings(options: RunOptions, settings: Settings): RunOptions {
  return {
    ...options,
    batchSize: settings.batch_size,
    idlePollMs: Math.max(options.pollMs, settings.poll_ms / 4),
    restPollMs: Math.max(options.pollMs, settings.poll_ms * 3 / 10),
    maxWallMs: options.isBounded ? settings.max_wall_ms : null,
    maxDeliveries: options.isBounded ? settings.max_deliveries : null,
  }
}
