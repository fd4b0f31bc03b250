/** A TCP proxy to a database that remembers what its clients send. */
export type Tapped = {
  /** The connection string through the proxy. */
  readonly url: string
  /** All bytes of all clients so far, as latin1 text. */
  sent(): string
  /** Closes all connections, as the end of a client does, and the listener. */
  cut(): void
}

/** Starts a proxy to the database at `dbUrl`, which does not use TLS. */
export function tap(dbUrl: string): Tapped {
  const target = new URL(dbUrl)
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const open = new Set<Deno.TcpConn>()
  const latin1 = new TextDecoder('latin1')
  let sent = ''

  async function accept(): Promise<void> {
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: target.hostname, port: Number(target.port) })
      open.add(client).add(server)
      void pump(client, server, (piece) => sent += latin1.decode(piece))
      void pump(server, client)
    }
  }

  async function pump(
    from: Deno.TcpConn,
    to: Deno.TcpConn,
    see: (piece: Uint8Array) => void = () => {},
  ): Promise<void> {
    const copy = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(piece, controller): void {
        see(piece)
        controller.enqueue(piece)
      },
    })
    // One of the two is closed first.
    await from.readable.pipeThrough(copy).pipeTo(to.writable).catch(() => {})
  }

  function close(conn: Deno.TcpConn): void {
    try {
      conn.close()
    } catch {
      // It is closed already.
    }
  }

  accept().catch(() => {})
  const url = new URL(dbUrl)
  // SAFETY: a TCP listener's address is a NetAddr.
  url.port = String((listener.addr as Deno.NetAddr).port)
  url.hostname = '127.0.0.1'
  return {
    url: url.href,
    sent: () => sent,
    cut(): void {
      listener.close()
      for (const conn of open) close(conn)
      open.clear()
    },
  }
}
