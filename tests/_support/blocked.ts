import type { Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from './outhook.ts'

/** A lock that a session of the test holds, so that dispatch stops at a place of the test's choice. */
export interface HeldLock {
  /** Resolves with the process id of the server process that waits for it in `outbox.dispatch`. */
  waiter(): Promise<number>
  release(): Promise<void>
}

/** Takes a lock by one statement, such as `lock table …`, and keeps it until it is released. */
export async function holdLock(admin: Sql, statement: string): Promise<HeldLock> {
  const session = await admin.reserve()
  await session`begin`
  await session.unsafe(statement)
  const [own] = await session`select pg_backend_pid() as pid`

  async function waiter(): Promise<number> {
    let pid: number | undefined
    const found = async (): Promise<boolean> => {
      // Not by the lock's own session: within a transaction the view stays as it was first read.
      const [row] = await admin`
        select pid from pg_stat_activity
        where ${own?.pid} = any (pg_blocking_pids(pid)) and query like '%dispatch%'`
      pid = row?.pid
      return pid !== undefined
    }
    if (await waitUntil(found, { timeoutMs: patienceMs }) && pid !== undefined) return pid
    throw new Error('no dispatch came to the lock')
  }

  async function release(): Promise<void> {
    await session`rollback`
    session.release()
  }

  return { waiter, release }
}
