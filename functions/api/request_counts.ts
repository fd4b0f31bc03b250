import { z } from 'zod'
import type { ApiDatabase } from './database.ts'
import { messageOf } from '../_shared/base/errors.ts'
import type { Log } from '../_shared/base/log.ts'

/** One request as the metrics see it. */
export type CountedRequest = { method: string; route: string; status: number; ms: number }

export type RequestCountsDeps = {
  database: ApiDatabase
  log: Log
  /** Calls back after so many milliseconds. */
  later(work: () => void, ms: number): void
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']
/** How long counts stay in an isolate: what it has not reported when it ends is lost. */
const reportMs = 5000
/** Requests that took different milliseconds are different entries; the database takes 1,000. */
const fullAt = 500

const notedSchema = z.object({ noted: z.boolean() })

type Entry = CountedRequest & { n: number }

/**
 * Counts requests in this isolate, and reports them to the database every 5 s while there are any.
 * A report that fails is joined to the next one.
 */
export function createRequestCounts(
  { database, log, later }: RequestCountsDeps,
): (request: CountedRequest) => void {
  let entries = new Map<string, Entry>()
  let planned = false

  return function countRequest({ method, route, status, ms }): void {
    // A method is the caller's word, and each value of a label is a series.
    const known = methods.includes(method) ? method : 'OTHER'
    add({ method: known, route, status, ms: Math.round(ms), n: 1 })
    if (entries.size >= fullAt) void report()
    else plan()
  }

  function add(entry: Entry): void {
    const { method, route, status } = entry
    const key = `${method} ${route} ${status} ${entry.ms / entry.n}`
    const held = entries.get(key)
    if (held === undefined) {
      entries.set(key, { ...entry })
    } else {
      held.n += entry.n
      held.ms += entry.ms
    }
  }

  function plan(): void {
    if (planned) return
    planned = true
    later(() => {
      planned = false
      void report()
    }, reportMs)
  }

  async function report(): Promise<void> {
    if (entries.size === 0) return
    const reported = [...entries.values()]
    entries = new Map()
    try {
      await database.call('note_requests', { p_requests: reported }, notedSchema)
    } catch (error) {
      log('warn', 'requests not counted yet', { error: messageOf(error) })
      // While the database is away the counts of one isolate stay bounded.
      if (entries.size < fullAt) {
        for (const entry of reported) add(entry)
        plan()
      }
    }
  }
}
