import { type Behaviour, behaviours } from './behaviours.ts'
import { exchangeOn } from './exchange.ts'
import { type Received, RequestReader } from './http.ts'
import { createPauses } from './pauses.ts'
import { patienceMs } from '../../_support/patience.ts'

export type Receiver = {
  /** Without a trailing slash. */
  url: string
  /** All requests so far, in the order of their last byte. */
  received: Received[]
  /** Connections accepted so far, and those open now. */
  connections: { accepted: number; open: number }
  /** Resolves once `count` requests have come; rejects after `ms`. */
  waitFor(count: number, ms?: number): Promise<Received[]>
  /** Closes the listener and every connection. Calling it twice is no error. */
  close(): Promise<void>
}

export type ReceiverOptions = {
  /** `127.0.0.1` unless said otherwise. */
  hostname?: string
  /** 0 takes any free port. */
  port?: number
  /** Serves https with this certificate. */
  tls?: { cert: string; key: string }
  /** Behaviours of the test's own, by the first word of the path; they go before `behaviours.ts`. */
  also?: Record<string, Behaviour>
}

/** Starts a webhook receiver on the loopback address that behaves as each path asks: see `behaviours.ts`. */
export function startReceiver(
  { hostname = '127.0.0.1', port = 0, tls, also = {} }: ReceiverOptions = {},
): Receiver {
  const listener = tls === undefined
    ? Deno.listen({ hostname, port })
    : Deno.listenTls({ hostname, port, ...tls })
  const received: Received[] = []
  const connections = { accepted: 0, open: 0 }
  const seen = new Map<string, number>()
  const open = new Set<Deno.Conn>()
  const pauses = createPauses()
  const served = new Set<Promise<void>>()
  const waiting = new Set<() => void>()
  const known = { ...behaviours, ...also }

  async function accept(): Promise<void> {
    for await (const conn of listener) {
      connections.accepted++
      open.add(conn)
      connections.open = open.size
      const done = serve(conn).catch(() => {}).finally(() => {
        served.delete(done)
        drop(conn)
      })
      served.add(done)
    }
  }

  async function serve(conn: Deno.Conn): Promise<void> {
    const reader = new RequestReader(conn)
    for (let nth = 1;; nth++) {
      const request = await reader.next()
      if (request === null) return
      const { pathname, searchParams } = new URL(request.path, 'http://receiver')
      const [name = '', ...words] = pathname.split('/').slice(1)
      const key = `${pathname} ${request.headers['webhook-id']}`
      const seenBefore = seen.get(key) ?? 0
      seen.set(key, seenBefore + 1)
      received.push(request)
      for (const check of waiting) check()
      const exchange = exchangeOn(conn, {
        request,
        words,
        query: searchParams,
        seenBefore,
        nth,
        pause: pauses.pause,
        close: () => drop(conn),
      })
      const behave = Object.hasOwn(known, name) ? known[name] : undefined
      await (behave === undefined ? exchange.answer(200, 'ok') : behave(exchange))
    }
  }

  function drop(conn: Deno.Conn): void {
    if (!open.delete(conn)) return
    connections.open = open.size
    conn.close()
  }

  function waitFor(count: number, ms = patienceMs): Promise<Received[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(check)
        reject(new Error(`${received.length} of ${count} requests came within ${ms} ms`))
      }, ms)

      function check(): void {
        if (received.length < count) return
        clearTimeout(timer)
        waiting.delete(check)
        resolve(received)
      }

      waiting.add(check)
      check()
    })
  }

  let closed: Promise<unknown> | null = null

  async function close(): Promise<void> {
    await (closed ??= end())
  }

  async function end(): Promise<void> {
    listener.close()
    pauses.end()
    for (const conn of open) drop(conn)
    await Promise.all([accepting, ...served])
  }

  const accepting = accept()
  const scheme = tls === undefined ? 'http' : 'https'
  // SAFETY: a TCP listener's address is a NetAddr.
  const { port: actualPort } = listener.addr as Deno.NetAddr
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  const url = `${scheme}://${host}:${actualPort}`
  return { url, received, connections, waitFor, close }
}
