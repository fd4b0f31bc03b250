import { type Behaviour, behaviours, type Exchange } from './behaviours.ts'
import { type Received, RequestReader } from './http.ts'

export type Receiver = {
  /** Without a trailing slash. */
  url: string
  /** All requests so far, in the order of their last byte. */
  received: Received[]
  /** Connections accepted so far, and those open now. */
  connections: { accepted: number; open: number }
  /** Resolves once `count` requests have come; rejects after `ms`. */
  waitFor(count: number, ms?: number): Promise<Received[]>
  /** Closes the listener and every connection. */
  close(): Promise<void>
}

export type ReceiverOptions = {
  /** 0 takes any free port. */
  port?: number
  /** Serves https with this certificate. */
  tls?: { cert: string; key: string }
  /** Behaviours of the test's own, by the first word of the path; they go before `behaviours.ts`. */
  also?: Record<string, Behaviour>
}

/** Starts a webhook receiver on the loopback address that behaves as each path asks: see `behaviours.ts`. */
export function startReceiver({ port = 0, tls, also = {} }: ReceiverOptions = {}): Receiver {
  const listener = tls === undefined
    ? Deno.listen({ hostname: '127.0.0.1', port })
    : Deno.listenTls({ hostname: '127.0.0.1', port, ...tls })
  const received: Received[] = []
  const connections = { accepted: 0, open: 0 }
  const seen = new Map<string, number>()
  const open = new Set<Deno.Conn>()
  const pauses = new Set<() => void>()
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
    for (;;) {
      const request = await reader.next()
      if (request === null) return
      const { pathname, searchParams } = new URL(request.path, 'http://receiver')
      const [name = '', ...words] = pathname.split('/').slice(1)
      const key = `${pathname} ${request.headers['webhook-id']}`
      const seenBefore = seen.get(key) ?? 0
      seen.set(key, seenBefore + 1)
      received.push(request)
      for (const check of waiting) check()
      const exchange = exchangeOn(conn, { request, words, query: searchParams, seenBefore })
      const behave = Object.hasOwn(known, name) ? known[name] : undefined
      await (behave === undefined ? exchange.answer(200, 'ok') : behave(exchange))
    }
  }

  function exchangeOn(
    conn: Deno.Conn,
    about: Pick<Exchange, 'request' | 'words' | 'query' | 'seenBefore'>,
  ): Exchange {
    async function write(data: string | Uint8Array): Promise<void> {
      let rest = typeof data === 'string' ? new TextEncoder().encode(data) : data
      while (rest.length > 0) rest = rest.subarray(await conn.write(rest))
    }

    async function answer(
      status: number,
      body: string | Uint8Array = 'ok',
      headers: string[] = [],
    ): Promise<void> {
      const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
      const length = status === 204 || status === 304 ? [] : [`content-length: ${bytes.length}`]
      const head = [`HTTP/1.1 ${status} x`, ...length, ...headers].join('\r\n')
      const sent = new TextEncoder().encode(`${head}\r\n\r\n`)
      // One write, so that a fast answer is one packet.
      const whole = new Uint8Array(sent.length + (length.length === 0 ? 0 : bytes.length))
      whole.set(sent)
      if (length.length > 0) whole.set(bytes, sent.length)
      await write(whole)
    }

    return { ...about, write, answer, pause, close: () => drop(conn) }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = ms === Infinity ? undefined : setTimeout(finish, ms)
      const stop = (): void => {
        clearTimeout(timer)
        pauses.delete(stop)
        reject(new Error('The receiver closes'))
      }
      pauses.add(stop)

      function finish(): void {
        pauses.delete(stop)
        resolve()
      }
    })
  }

  function drop(conn: Deno.Conn): void {
    if (!open.delete(conn)) return
    connections.open = open.size
    conn.close()
  }

  function waitFor(count: number, ms = 10_000): Promise<Received[]> {
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

  async function close(): Promise<void> {
    listener.close()
    for (const stop of pauses) stop()
    for (const conn of open) drop(conn)
    await Promise.all([accepting, ...served])
  }

  const accepting = accept()
  const scheme = tls === undefined ? 'http' : 'https'
  // SAFETY: a TCP listener's address is a NetAddr.
  const { port: actualPort } = listener.addr as Deno.NetAddr
  const url = `${scheme}://127.0.0.1:${actualPort}`
  return { url, received, connections, waitFor, close }
}
