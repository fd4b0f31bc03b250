import type { ApiDatabase } from './database.ts'
import { ApiError } from './errors.ts'

/** How long the first call of a request waits. */
const patienceMs = 5000

type Waiting = {
  start(): void
  /** Refuses the call if its request has waited for too long; false: it has not. */
  refuseLate(): boolean
}

type Queue = {
  /** The requests that are open: the queue is dropped with the last one. */
  requests: number
  /** How many calls may be in flight. */
  most: number
  inFlight: number
  waiting: Waiting[]
}

/** Makes a call once it is its turn. */
type Turn = <Result>(call: () => Promise<Result>) => Promise<Result>

/**
 * Handles a request with a database that makes at most `most` calls at once for all requests of the same `key`.
 * Other calls wait in order. A request whose first call has waited for 5 s is refused (ApiError, 429): it has done
 * nothing yet, and its client may have gone.
 */
export type InQueue = (
  key: string,
  most: number,
  handle: (database: ApiDatabase) => Promise<void>,
) => Promise<void>

/**
 * Bounds the calls to the database that this process has in flight for each key. All calls share the connections and
 * the processors of the database, so an organisation that sends many requests at once would make the others wait.
 * A request takes no place while it waits for another server, as a test of an endpoint does.
 */
export function createCallQueues(database: ApiDatabase, now: () => number): InQueue {
  const queues = new Map<string, Queue>()

  return async function inQueue(key, most, handle): Promise<void> {
    const queue = queues.get(key) ?? { requests: 0, most, inFlight: 0, waiting: [] }
    queues.set(key, queue)
    queue.requests++
    queue.most = most
    const turn = turnsOf(queue)
    try {
      await handle({
        call: (name, args, schema, trace) => turn(() => database.call(name, args, schema, trace)),
      })
    } finally {
      queue.requests--
      if (queue.requests === 0) queues.delete(key)
    }
  }

  /** For the calls of one request. */
  function turnsOf(queue: Queue): Turn {
    let hasBegun = false

    function place(): Promise<void> {
      const since = now()
      return new Promise((start, refuse) => {
        const refuseLate = (): boolean => {
          if (hasBegun || now() - since < patienceMs) return false
          refuse(waitedTooLong())
          return true
        }
        queue.waiting.push({ start, refuseLate })
        startWaiting(queue)
      })
    }

    return async function turn<Result>(call: () => Promise<Result>): Promise<Result> {
      await place()
      hasBegun = true
      try {
        return await call()
      } finally {
        queue.inFlight--
        startWaiting(queue)
      }
    }
  }
}

function startWaiting(queue: Queue): void {
  while (queue.inFlight < queue.most) {
    const next = queue.waiting.shift()
    if (next === undefined) return
    if (next.refuseLate()) continue
    queue.inFlight++
    next.start()
  }
}

function waitedTooLong(): ApiError {
  return new ApiError('rate_limited', 'Requests of this organisation have waited for 5 s', {
    remedy: 'Send the request again in 1 s. If you send many requests at once, send fewer',
    headers: { 'retry-after': '1' },
  })
}
