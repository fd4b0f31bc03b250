import type { DatabaseFault } from '../_shared/database.ts'
import type { Log } from '../_shared/log.ts'

/** What a run says of a database that does not answer: once for each kind of trouble. */
export type Trouble = {
  /** Takes each fault; only one of another code than the last is said. */
  say(run: string, fault: DatabaseFault): void
  /** Takes each answer; the first after a fault is said. */
  end(run: string): void
}

/** Begins without trouble. */
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
