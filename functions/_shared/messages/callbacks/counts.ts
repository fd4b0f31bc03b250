import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { CountReply, ResponseCount } from './database.ts'

/** The interval of reports; a process that ends loses the counts since its last report. */
const reportMs = 5000

export type CallbackCountsDeps = {
  /** Adds counts in the database. */
  save(counts: ResponseCount[]): Promise<CountReply>
  log: Log
  /** Calls `work` after `ms` milliseconds. */
  later(work: () => void, ms: number): void
}

/**
 * Counts the responses to callbacks by status, and reports them every 5 s while there are any, so that
 * a flood of unsigned requests does not become a flood of calls. The counts of a failed report are part
 * of the next one.
 */
export function createCallbackCounts(
  { save, log, later }: CallbackCountsDeps,
): (status: number) => void {
  let counts = new Map<number, number>()
  let planned = false

  function add(status: number, n: number): void {
    counts.set(status, (counts.get(status) ?? 0) + n)
    if (planned) return
    planned = true
    later(() => {
      planned = false
      void report()
    }, reportMs)
  }

  async function report(): Promise<void> {
    const reported = [...counts].map(([status, n]) => ({ status, n }))
    counts = new Map()
    const reply = await save(reported)
      .catch((error): CountReply => ({ ok: false, error: messageOf(error) }))
    if (reply.ok) return
    log('warn', 'callbacks not counted yet', { error: reply.error })
    for (const { status, n } of reported) add(status, n)
  }

  return (status) => add(status, 1)
}
