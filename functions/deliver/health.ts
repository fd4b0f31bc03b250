import type { Clock } from '../_shared/base/clock.ts'
import type { Database, DispatchReply } from '../_shared/database/dispatch.ts'

/** Whether a worker is ready and alive. Both return what is wrong, or null. */
export type Health = {
  /** The database, whose calls are watched. */
  watch(database: Database): Database
  /** Why the worker gets no deliveries now. */
  unready(): string | null
  /** Why the worker must be started again. */
  stuck(): string | null
}

/** A worker makes a call at least every 90 s, while it is refused or the database has a fault. */
const stuckAfterMs = 300_000

/**
 * Judges the health of a worker by its calls. A database that does not respond makes it unready and not stuck:
 * another start would not help. While it stops, it is unready, and not stuck however long it takes.
 */
export function createHealth(
  { clock, stop }: { clock: Pick<Clock, 'now'>; stop: AbortSignal },
): Health {
  let problem: string | null = 'no response of the database yet'
  let calledAt = clock.now()

  return {
    watch: (database) => ({
      ...database,
      async dispatch(call): Promise<DispatchReply> {
        calledAt = clock.now()
        const reply = await database.dispatch(call)
        calledAt = clock.now()
        problem = problemOf(reply)
        return reply
      },
    }),
    unready: () => stop.aborted ? 'draining' : problem,
    stuck: () =>
      !stop.aborted && clock.now() - calledAt > stuckAfterMs ? 'no call for five minutes' : null,
  }
}

/** Without texts of the database: anybody who reaches the port can read it. */
function problemOf(reply: DispatchReply): string | null {
  if (reply.ok) {
    const { stop } = reply.response
    return stop === null ? null : `refused: ${stop}`
  }
  const { refusal, kind } = reply.fault
  if (refusal !== undefined) return `refused: update the ${refusal.update}`
  // The database refused a part of the call, so it responds.
  if (kind === 'partial') return null
  return kind === 'permanent' ? 'the database refuses the call' : 'the database does not respond'
}
