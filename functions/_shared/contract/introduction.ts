import type { ContractRange } from './range.ts'

/** What a run says about itself in each call: `p_contract` of `outbox.dispatch`. */
export type Introduction = ContractRange & {
  /** The name or the URL of the run's project; absent: it names none. */
  project?: string
  /** The database that sent the kick, in the first call of a run that it started. */
  kick?: string
  /** Refuse the rows that cause temporary errors; absent: such an error fails the whole call. */
  refuse?: true
}

/**
 * The introduction of a run. Project, kick and refuse are members of this argument and not arguments,
 * because a database that does not know them yet ignores them.
 */
export function introduce(
  range: ContractRange,
  project: string | null,
  { kick = null, refuse = false }: { kick?: string | null; refuse?: boolean },
): Introduction {
  return {
    ...range,
    ...(project === null ? {} : { project }),
    ...(kick === null ? {} : { kick }),
    ...(refuse ? { refuse } : {}),
  }
}
