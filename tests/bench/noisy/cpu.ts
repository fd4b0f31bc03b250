import { cpuOf, cpuOfTree } from '../run/proc.ts'

/** Of which processes the CPU time is read. */
export type Pids = { postmaster: number; others: readonly number[] }

/** Processors in use on average: by Postgres, and by all other processes without the quiet organisation's. */
export type Shares = { postgres: number; others: number }

/** Starts to count; the returned function returns the shares since then. */
export function countCpu({ postmaster, others }: Pids): () => Shares {
  const now = (): [number, number, number] => [
    performance.now() / 1000,
    cpuOfTree(postmaster),
    others.reduce((sum, pid) => sum + cpuOf(pid), 0),
  ]
  const [begunAt, postgresBefore, othersBefore] = now()
  return () => {
    const [at, postgres, rest] = now()
    const seconds = at - begunAt
    return {
      postgres: (postgres - postgresBefore) / seconds,
      others: (rest - othersBefore) / seconds,
    }
  }
}

/** What `more` has beyond `less`. */
export function beyond(more: Shares, less: Shares): Shares {
  return {
    postgres: Math.max(0, more.postgres - less.postgres),
    others: Math.max(0, more.others - less.others),
  }
}
