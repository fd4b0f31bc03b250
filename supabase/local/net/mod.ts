/**
 * Emulates pg_net's background worker. It wakes after a commit that queued a request, and runs batches
 * until one is empty. A batch is one transaction that deletes expired responses, takes up to 200 requests,
 * sends them, waits for the slowest, and stores the responses. Between batches it sleeps for one second
 * unless woken. As on the platform, a row without a notification waits for the next wake, an error returns
 * the batch to the queue (so requests are sent again), and a crash of Postgres loses it.
 */

import postgres, { type Sql } from 'postgres'
import { messageOf } from '../errors.ts'
import { type NetRequest, performRequest } from './request.ts'
import { Signal } from './signal.ts'

const BATCH_SIZE = 200
const TTL = '6 hours'
const SLEEP_MS = 1000

export interface NetWorker {
  /** Stops; requests in flight return to the queue. */
  stop(): Promise<void>
}

/** Starts the worker on the database at `url` (a superuser); resolves when it listens. */
export async function startNet(
  { url, log }: { url: string; log: (line: string) => void },
): Promise<NetWorker> {
  const sql = postgres(url, {
    max: 1,
    fetch_types: false,
    connection: { application_name: 'pg_net worker' },
    onnotice: () => {},
  })
  const client = Deno.createHttpClient({})
  const stopping = new AbortController()
  const woken = new Signal()
  const pass = (): Promise<boolean> => makePass(sql, { client, stopping: stopping.signal })

  // The second callback runs at each connect, because requests may have been queued before it.
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
        // Like a restarted background worker: the same batch again after one second.
        if (!stopping.aborted) log(`net: ${messageOf(error)}`)
      }
      // A wake during an empty batch is not lost: the wait above returns at once.
      if (found) await woken.wait(SLEEP_MS)
    }
  }
}

/** Runs one batch; resolves with whether it found anything. */
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
