import type { ApiDatabase } from './database.ts'
import { ApiError } from './errors.ts'

/** A call that has waited for this long means that the organisation sends more than it gets done. */
const patienceMs = 5000

type Queue = {
  /** The requests that are open: the queue is dropped with the last one. */
  requests: number
  /** How many calls may be in flight. */
  most: number
  inFlight: number
  waiting: { since: number; start(): void }[]
}

export type CallQueues = {
  /** The same database, which makes at most so many calls of an organisation at once; others wait in order. */
  database: ApiDatabase
  /** Handles a request of an organisation; throws ApiError (429) if its calls wait for too long already. */
  during(orgId: string, most: number, handle: () => Promise<void>): Promise<void>
}

/**
 * Bounds the calls to the database that are in flight for one organisation in this process. The calls of all
 * organisations share the connections and the processors of the database, so one that sends many requests at once
 * would make the others wait. Waiting for another server, as a test of an endpoint does, is no call. Calls
 * without an organisation, and those outside of `during`, do not wait.
 */
export function createCallQueues(database: ApiDatabase, now: () => number): CallQueues {
  const queues = new Map<string, Queue>()

  return {
    database: {
      call: (name, args, schema, trace) =>
        inTurn(queues.get(orgOf(args)), () => database.call(name, args, schema, trace)),
    },

    async during(orgId, most, handle): Promise<void> {
      const queue = queues.get(orgId) ?? { requests: 0, most, inFlight: 0, waiting: [] }
      const [first] = queue.waiting
      if (first !== undefined && now() - first.since >= patienceMs) throw tooManyAtOnce()
      queues.set(orgId, queue)
      queue.requests++
      queue.most = most
      try {
        await handle()
      } finally {
        queue.requests--
        if (queue.requests === 0) queues.delete(orgId)
      }
    },
  }

  async function inTurn<Result>(
    queue: Queue | undefined,
    call: () => Promise<Result>,
  ): Promise<Result> {
    if (queue === undefined) return await call()
    await new Promise<void>((start) => {
      queue.waiting.push({ since: now(), start })
      startWaiting(queue)
    })
    try {
      return await call()
    } finally {
      queue.inFlight--
      startWaiting(queue)
    }
  }
}

function startWaiting(queue: Queue): void {
  while (queue.inFlight < queue.most) {
    const next = queue.waiting.shift()
    if (next === undefined) return
    queue.inFlight++
    next.start()
  }
}

function orgOf(args: object): string {
  return 'p_org_id' in args && typeof args.p_org_id === 'string' ? args.p_org_id : ''
}

function tooManyAtOnce(): ApiError {
  return new ApiError('rate_limited', 'This organisation has too many requests in flight', {
    remedy: 'Send the request again in 1 s, and wait for responses before you send more',
    headers: { 'retry-after': '1' },
  })
}
