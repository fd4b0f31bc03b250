import { type Receiver, startReceiver } from '../../e2e/receiver/receiver.ts'
import type { Exchange } from '../../e2e/receiver/behaviours.ts'
import { Random } from '../../concurrency/_support/random.ts'
import type { Arrival, Ledger } from './ledger.ts'

/** How a receiver answers a request: with this status after so many ms. */
type Manner = (request: Asked) => { status: number; ms: number }

interface Asked {
  /** The number of the event. */
  n: number
  /** How often this event came before. */
  seenBefore: number
  random: Random
}

/** The receivers, by the names of their endpoints. */
export const manners: Readonly<Record<string, Manner>> = {
  steady: () => ({ status: 200, ms: 0 }),
  slow: ({ random }) => ({ status: 200, ms: random.int(150) }),
  flaky: ({ random }) => ({ status: random.int(5) === 0 ? 500 : 200, ms: random.int(20) }),
  /** In order for each key. */
  ordered: ({ random }) => ({ status: random.int(20) === 0 ? 503 : 200, ms: random.int(10) }),
  /** In order as a whole. */
  single: () => ({ status: 200, ms: 1 }),
  /** Refuses each 17th event at first, so that it becomes a dead letter. */
  picky: ({ n, seenBefore }) => ({ status: n % 17 === 0 && seenBefore === 0 ? 422 : 200, ms: 0 }),
  /** Its types are changed. */
  choosy: () => ({ status: 200, ms: 2 }),
}

/**
 * Starts them on one port; each request is noted before it is answered. An endpoint behaves as the first word of its
 * path says. `idHeader` has the id under which the ledger knows an event.
 */
export function startReceivers(
  ledger: Ledger,
  seed: number,
  idHeader = 'webhook-id',
): Receiver {
  const random = new Random(seed)
  const decoder = new TextDecoder()
  const also = Object.fromEntries(
    Object.entries(manners).map(([name, manner]) => [name, receive(manner)]),
  )

  function receive(manner: Manner): (exchange: Exchange) => Promise<void> {
    return async ({ request, seenBefore, pause, answer }) => {
      const { data } = JSON.parse(decoder.decode(request.body))
      const arrival: Arrival = {
        endpoint: request.path.slice(1),
        ref: data.ref,
        id: request.headers[idHeader] ?? '',
        attempt: Number(request.headers['x-attempt']),
        at: request.at,
        answeredAt: null,
        status: null,
      }
      ledger.arrivals.push(arrival)
      const { status, ms } = manner({ n: data.n, seenBefore, random })
      if (ms > 0) await pause(ms)
      arrival.answeredAt = Date.now()
      arrival.status = status
      await answer(status)
    }
  }

  return startReceiver({ also })
}
