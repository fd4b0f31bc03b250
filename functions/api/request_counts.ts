import { z } from 'zod'
import type { ApiDatabase } from './database.ts'
import { messageOf } from '../_shared/base/errors.ts'
import type { Log } from '../_shared/base/log.ts'

/** One request for the metrics. */
export type CountedRequest = { method: string; route: string; status: number; ms: number }

export type RequestCountsDeps = {
  database: ApiDatabase
  log: Log
  /** Calls `work` after `ms` milliseconds. */
  later(work: () => void, ms: number): void
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']
/** The interval of reports; an isolate that ends loses the counts since its last report. */
const reportMs = 5000
/** Requests with different durations are different entries; the database accepts 1,000. */
const fullAt = 500

const notedSchema = z.object({ noted: z.boolean() })

type Entry = CountedRequest & { n: number }

/**
 * Counts requests in this isolate and reports them to the database every 5 s while there are any.
 * The counts of a failed report are part of the next one.
 */
export function createRequestCounts(
  { database, log, later }: RequestCountsDeps,
): (request: CountedRequest) => void {
  let entries = new Map<string, Entry>()
  let planned = false

  return function countRequest({ method, route, status, ms }): void {
    // The caller chooses the method, and each value of a label is a series.
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
      await database.call('count_requests', { p_requests: reported }, notedSchema)
    } catch (error) {
      log('warn', 'requests not counted yet', { error: messageOf(error) })
      // Limits the memory of an isolate while the database does not respond.
      if (entries.size < fullAt) {
        for (const entry of reported) add(entry)
        plan()
      }
    }
  }
}
