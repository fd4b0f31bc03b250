/** The receiver of `deno task start`: stores the last requests and responds 200. */

/** A received request, with its headers in alphabetical order. */
export interface Arrival {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

export interface Receiver {
  readonly url: string
  /** Resolves with the request whose `webhook-id` is `id`, now or when it arrives. */
  arrival(id: string): Promise<Arrival>
  stop(): Promise<void>
}

const MOST_KEPT = 1000

/** Starts a receiver on any free port. `onArrival` is called for each request. */
export function startReceiver(onArrival: (arrival: Arrival) => void): Receiver {
  const kept = new Map<string, Arrival>()
  const awaited = new Map<string, (arrival: Arrival) => void>()

  async function receive(request: Request): Promise<Response> {
    const arrival = {
      method: request.method,
      path: new URL(request.url).pathname,
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    }
    const id = arrival.headers['webhook-id'] ?? ''
    kept.set(id, arrival)
    const oldest = kept.keys().next().value
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest)
    awaited.get(id)?.(arrival)
    onArrival(arrival)
    return new Response('ok')
  }

  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, receive)
  return {
    url: `http://127.0.0.1:${server.addr.port}/webhooks`,
    arrival(id: string): Promise<Arrival> {
      const come = kept.get(id)
      if (come !== undefined) return Promise.resolve(come)
      return new Promise((resolve) => awaited.set(id, resolve))
    },
    stop: () => server.shutdown(),
  }
}
