import type { DispatchCall, WorkerFacts } from './contract.ts'
import type { ContractRange } from './range.ts'

/** What a run says about itself in each call: `p_contract` of `outbox.dispatch`. */
export type Introduction = ContractRange & {
  /** The name or the URL of the run's project; absent: it names none. */
  project?: string
  /** The database that sent the kick, in the first call of a run that it started. */
  kick?: string
  /** Refuse the rows that cause temporary errors; absent: such an error fails the whole call. */
  refuse?: true
  /** The call was made before: it leaves a mark even if there is nothing to do. */
  repeat?: true
  /** The kinds of endpoints that the run can send; absent: it names none and gets all. */
  kinds?: readonly string[]
  /** Claim nothing of these organisations; absent: of all. */
  full?: readonly string[]
  /** A commit wakes the run; absent: it polls. */
  listens?: true
  /** What a worker says about itself; absent: an edge run. */
  worker?: WorkerFacts
}

/**
 * The introduction of a run. Its members are not arguments of their own, because a database that does not
 * know them yet ignores them.
 */
export function introduce(
  range: ContractRange,
  project: string | null,
  { kick = null, refuse = false, repeat = false, kinds, full, listens = false, worker }:
    & Pick<DispatchCall, 'refuse' | 'repeat' | 'kinds' | 'full' | 'listens' | 'worker'>
    & { kick?: string | null },
): Introduction {
  return {
    ...range,
    ...(project === null ? {} : { project }),
    ...(kick === null ? {} : { kick }),
    ...(refuse ? { refuse } : {}),
    ...(repeat ? { repeat } : {}),
    ...(kinds === undefined ? {} : { kinds }),
    ...(full === undefined ? {} : { full }),
    ...(listens ? { listens } : {}),
    ...(worker === undefined ? {} : { worker }),
  }
}
