/**
 * pg_net's background worker. It wakes after a commit that queued a request, and then makes passes
 * until one finds nothing: each pass is a single transaction that deletes expired responses, takes
 * up to 200 requests, makes them all, waits for the slowest, and stores the responses. Between
 * passes it sleeps for a second unless woken. A row that nobody announced waits for the next wake,
 * an error gives the batch back to be sent again, and a crash of Postgres loses it: just so on the
 * platform.
 */

import postgres, { type Sql } from 'postgres'
import { messageOf } from '../errors.ts'
import { type NetRequest, performRequest } from './request.ts'
import { Signal } from './signal.ts'

const BATCH_SIZE = 200
const TTL = '6 hours'
const SLEEP_MS = 1000

/** The running worker. */
export interface NetWorker {
  /** Stops after giving a batch in the air back to the queue. */
  stop(): Promise<void>
}

/** Starts the worker on the database at `url` (a superuser's); resolves once it listens. */
export async function startNet(
  { url, log }: { url: string; log: (line: string) => void },
): Promise<NetWorker> {
  const sql = postgres(url, {
    max: 1,
    connection: { application_name: 'pg_net worker' },
    onnotice: () => {},
  })
  const client = Deno.createHttpClient({})
  const stopping = new AbortController()
  const woken = new Signal()
  const pass = (): Promise<boolean> => makePass(sql, { client, stopping: stopping.signal })

  // The second callback runs at each (re)connection: requests may have been queued before it.
  await sql.listen('outhook_net', () => woken.set(), () => woken.set())
  const looping = loop({ pass, woken, stopping: stopping.signal, log })
  return {
    stop: async () => {
      stopping.abort()
      woken.set()
      await looping
      await sql.end({ timeout: 1 })
      client.close()
    },
  }
}

async function loop(
  { pass, woken, stopping, log }: {
    pass: () => Promise<boolean>
    woken: Signal
    stopping: AbortSignal
    log: (line: string) => void
  },
): Promise<void> {
  while (!stopping.aborted) {
    await woken.wait()
    let found = true
    while (found && !stopping.aborted) {
      try {
        found = await pass()
      } catch (error) {
        // As a restarted background worker does: the same batch again, a second later.
        if (!stopping.aborted) log(`net: ${messageOf(error)}`)
      }
      // A wake during an empty pass is for the next round: the wait above takes it.
      if (found) await woken.wait(SLEEP_MS)
    }
  }
}

/** One pass; resolves to whether it found anything to do. */
async function makePass(
  sql: Sql,
  context: { client: Deno.HttpClient; stopping: AbortSignal },
): Promise<boolean> {
  return await sql.begin(async (tx) => {
    const expired = await tx`
      delete from net._http_response as r
      where r.ctid = any(array(
        select e.ctid from net._http_response as e
        where e.created < pg_catalog.now() - ${TTL}::interval
        order by e.created limit ${BATCH_SIZE}))`
    const requests = await tx<NetRequest[]>`
      with batch as (
        select q.id from net.http_request_queue as q order by q.id limit ${BATCH_SIZE}
      )
      delete from net.http_request_queue as q using batch as b
      where q.id = b.id
      returning q.id, q.method, q.url, q.headers, q.body, q.timeout_milliseconds`
    const responses = await Promise.all(
      requests.map((request) => performRequest(request, context)),
    )
    if (responses.length > 0) await tx`insert into net._http_response ${tx(responses)}`
    return expired.count > 0 || requests.length > 0
  })
}
