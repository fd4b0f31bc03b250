import { type Exchange, exchangeOn } from './exchange.ts'
import { createPauses } from './pauses.ts'
import { RequestReader } from './request.ts'

export type ServeOptions = {
  /** `127.0.0.1` unless said otherwise. */
  hostname?: string
  /** 0 takes any free port. */
  port?: number
  /** Serves https with this certificate. */
  tls?: { cert: string; key: string }
}

export type HttpServer = {
  /** Without a trailing slash. */
  url: string
  /** Connections accepted so far, and those open now. */
  connections: { accepted: number; open: number }
  /** Closes the listener and every connection. Calling it twice is no error. */
  close(): Promise<void>
}

/**
 * Serves HTTP/1.1 by hand, so that a server can also break off, say nothing or write what is not HTTP.
 * Requests of a connection are handled one after another.
 */
export function serveHttp(
  { hostname = '127.0.0.1', port = 0, tls }: ServeOptions,
  handle: (exchange: Exchange) => Promise<void> | void,
): HttpServer {
  const listener = tls === undefined
    ? Deno.listen({ hostname, port })
    : Deno.listenTls({ hostname, port, ...tls })
  const connections = { accepted: 0, open: 0 }
  const open = new Set<Deno.Conn>()
  const pauses = createPauses()
  const served = new Set<Promise<void>>()

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
      const about = { request, nth, pause: pauses.pause, close: () => drop(conn) }
      await handle(exchangeOn(conn, about))
    }
  }

  function drop(conn: Deno.Conn): void {
    if (!open.delete(conn)) return
    connections.open = open.size
    conn.close()
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
  return { url: `${scheme}://${host}:${actualPort}`, connections, close }
}
