import type { DatabaseFault } from '../_shared/database/dispatch.ts'
import type { Log } from '../_shared/base/log.ts'

/** Logs failed calls to the database: each error code once, and the first success after it. */
export type Trouble = {
  /** Call it for each fault; it logs a fault whose code differs from the last one. */
  say(run: string, fault: DatabaseFault): void
  /** Call it for each response; it logs the first one after a fault. */
  end(run: string): void
}

/** Starts without a known fault. */
export function createTrouble(log: Log): Trouble {
  let said: string | null = null

  function say(run: string, { kind, code, message }: DatabaseFault): void {
    if (said === code) return
    said = code
    log(kind === 'passes' ? 'warn' : 'error', 'dispatch failed', { run, error: message })
  }

  function end(run: string): void {
    if (said === null) return
    said = null
    log('info', 'dispatch answered again', { run })
  }

  return { say, end }
}
