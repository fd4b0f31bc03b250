import type { RunKind, Settings } from '../_shared/contracts.ts'

/** How a run works; the operator's settings that come with each answer can only narrow it. */
export type RunOptions = {
  kind: RunKind
  /** Deliveries on their way at once; one that takes longer than `slowMs` keeps its lease but leaves its slot to others. */
  slots: number
  slowMs: number
  /** The most in hand, slow ones included: more than the 1,000 that one endpoint may have in flight. */
  maxInHand: number
  /** A result waits no longer than this for company. */
  gatherMs: number
  /** The least pause between two dispatches while the queue is not filling all free slots. */
  spacingMs: number
  /** Between two looks while there was work within `busyMs`. */
  pollMs: number
  busyMs: number
  /** Between two looks of a run that found nothing for `busyMs`. */
  idlePollMs: number
  /** Time kept at the end of a lease for recording the result. */
  leaseMarginMs: number
  /** The longest a run claims and the most it claims; null means as long as the process lives. */
  maxWallMs: number | null
  maxDeliveries: number | null
  /** The process CPU that a run may use before it stops claiming, where the runtime tells it. */
  maxCpuMs: number | null
}

const common = {
  slowMs: 100,
  maxInHand: 1_280,
  gatherMs: 20,
  spacingMs: 5,
  pollMs: 25,
  busyMs: 5_000,
  idlePollMs: 250,
  leaseMarginMs: 1_000,
}

/**
 * An edge run's: the platform gives 150 s of wall clock and 2 s of CPU, so a run claims for 25 s, which leaves the slowest
 * delivery its 15 s several times over.
 */
export const edgeOptions: RunOptions = {
  ...common,
  kind: 'edge',
  slots: 64,
  maxWallMs: 25_000,
  maxDeliveries: 10_000,
  maxCpuMs: 1_500,
}

/** A worker's: it stays until it is told to stop. */
export const workerOptions: RunOptions = {
  ...common,
  kind: 'worker',
  slots: 256,
  maxWallMs: null,
  maxDeliveries: null,
  maxCpuMs: null,
}

/** The options under the operator's settings: these replace an edge run's budget and cap the idle poll. */
export function withSettings(options: RunOptions, settings: Settings): RunOptions {
  return {
    ...options,
    idlePollMs: Math.min(options.idlePollMs, settings.poll_ms),
    maxWallMs: options.maxWallMs === null ? null : settings.max_wall_ms,
    maxDeliveries: options.maxDeliveries === null ? null : settings.max_deliveries,
  }
}
