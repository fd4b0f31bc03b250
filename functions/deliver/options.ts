import type { RunKind, Settings } from '../_shared/contract/contract.ts'

/** How a run works; `withSettings` puts the operator's settings in. */
export type RunOptions = {
  kind: RunKind
  /**
   * Deliveries on their way at once; one that takes longer than `slowMs` keeps its lease but leaves
   * its slot to others.
   */
  slots: number
  slowMs: number
  /**
   * The most in hand, slow ones included: more than the 1,000 that one endpoint may have in flight.
   */
  maxInHand: number
  /** Sends on their way at once while answers come within `windowMs`. */
  window: number
  /**
   * Sends that are begun together, without a look at what has come meanwhile; twice as many after
   * each wait in vain.
   */
  windowStep: number
  /** The longest that the next ones wait for room in the window. */
  windowMs: number
  /**
   * Dispatches on their way at once. A second keeps the database at work while the answer of the
   * first is read and sent.
   */
  maxDispatches: number
  /** The most that the database gives in one answer; Infinity until an answer tells it. */
  batchSize: number
  /** The part of a dispatch's slots that must be free for it to go before its time. */
  enoughShare: number
  /** A result waits no longer than this for company. */
  gatherMs: number
  /** The same while more is waiting than the run can take. */
  fullGatherMs: number
  /** The least pause between two dispatches while the queue is not filling all free slots. */
  spacingMs: number
  /** Between two looks while there was work within `busyMs`. */
  pollMs: number
  busyMs: number
  /**
   * Between two looks of a run that found nothing for `busyMs`: a quarter of the operator's
   * setting.
   */
  idlePollMs: number
  /** Time kept at the end of a lease for recording the result. */
  leaseMarginMs: number
  /**
   * An ordered lane has its lease renewed when less than this would be left behind the next send:
   * half of the 5 s that a lease is longer than a send, so that the database has time to answer.
   */
  renewMarginMs: number
  /** Whether the two settings that follow bound the run: a worker claims as long as it lives. */
  isBounded: boolean
  /**
   * The longest the run claims and the most it claims; null without a bound and until an answer
   * tells it.
   */
  maxWallMs: number | null
  maxDeliveries: number | null
  /**
   * How long a run that holds results repeats calls to a database that does not respond; null:
   * without limit.
   */
  lifeMs: number | null
  /** The process CPU that a run may use before it stops claiming, where the runtime tells it. */
  maxCpuMs: number | null
}

const common = {
  slowMs: 100,
  maxInHand: 1_792,
  window: 64,
  windowStep: 16,
  windowMs: 2,
  batchSize: Infinity,
  gatherMs: 20,
  fullGatherMs: 50,
  spacingMs: 5,
  pollMs: 25,
  busyMs: 5_000,
  idlePollMs: 25,
  leaseMarginMs: 1_000,
  renewMarginMs: 2_500,
  maxWallMs: null,
  maxDeliveries: null,
}

/**
 * An edge run's: the platform gives 150 s of wall clock and 2 s of CPU. By default a run claims for
 * 25 s, which leaves the slowest delivery its 15 s several times over. A dispatch costs the database
 * 2.5 ms whatever it brings: with 128 slots four runs make 7,800 deliveries a second, with 256
 * 10,400, with 384 7 % more; 512 bring nothing, since worker.batch_size is 400. For the same reason a
 * run waits for nearly all of its slots: half of them made a third more dispatches; and longer for
 * company while the queue is full, 7 % more deliveries than with 50 ms.
 */
export const edgeOptions: RunOptions = {
  ...common,
  kind: 'edge',
  slots: 384,
  maxDispatches: 1,
  enoughShare: 7 / 8,
  fullGatherMs: 100,
  isBounded: true,
  // The platform ends it 30 s later.
  lifeMs: 120_000,
  maxCpuMs: 1_500,
}

/**
 * A worker's: it stays until it is told to stop. 1,024 slots make it a tenth faster than 512, since
 * the batches are fuller, for 10 MB more.
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
 * The options under the operator's settings that came with an answer. An idle run looks four times
 * within `worker.poll_interval_ms`: every 250 ms by default, but never more often than a busy one.
 */
export function withSettings(options: RunOptions, settings: Settings): RunOptions {
  return {
    ...options,
    batchSize: settings.batch_size,
    idlePollMs: Math.max(options.pollMs, settings.poll_ms / 4),
    maxWallMs: options.isBounded ? settings.max_wall_ms : null,
    maxDeliveries: options.isBounded ? settings.max_deliveries : null,
  }
}
