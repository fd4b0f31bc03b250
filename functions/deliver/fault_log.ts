import type { DatabaseFault } from '../_shared/database/dispatch.ts'
import type { Log } from '../_shared/base/log.ts'

/** Logs failed calls to the database: each error code once, and the first success after it. */
export type FaultLog = {
  /** Call it for each fault; it logs a fault whose code differs from the last one. */
  report(run: string, fault: DatabaseFault): void
  /** Call it for each response; it logs the first one after a fault. */
  clear(run: string): void
}

export function createFaultLog(log: Log): FaultLog {
  let logged: string | null = null

  function report(run: string, { kind, code, message }: DatabaseFault): void {
    if (logged === code) return
    logged = code
    log(kind === 'temporary' ? 'warn' : 'error', 'dispatch failed', { run, error: message })
  }

  function clear(run: string): void {
    if (logged === null) return
    logged = null
    log('info', 'dispatch responds again', { run })
  }

  return { report, clear }
}
