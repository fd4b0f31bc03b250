/** What a receiver can do before, or instead of, reading a request. */
export type RawBehaviour = (conn: Deno.Conn) => Promise<void> | void

const encoder = new TextEncoder()

export const rawBehaviours = {
  /** Takes the connection and says nothing: a TLS client waits for the handshake. */
  silent: () => new Promise<void>(() => {}),
  /** Closes at once. */
  closes: (conn) => conn.close(),
  /** Answers before the request is read, and closes. */
  early: async (conn) => {
    await write(conn, 'HTTP/1.1 413 x\r\ncontent-length: 9\r\nconnection: close\r\n\r\ntoo large')
    await conn.closeWrite()
    await drain(conn)
  },
  /** Reads the start of a large request and closes: the unread rest makes the close a reset. */
  resets: async (conn) => {
    await conn.read(new Uint8Array(1))
    conn.close()
  },
  /** Does as a server that knows TLS 1.0 alone: its hello (RFC 2246) picks version 3.1 whatever was offered. */
  'tls-1.0': async (conn) => {
    await conn.read(new Uint8Array(4_096))
    const hello = [3, 1, ...new Uint8Array(32).fill(7), 0, 0x00, 0x2f, 0]
    await conn.write(
      new Uint8Array([22, 3, 1, 0, 4 + hello.length, 2, 0, 0, hello.length, ...hello]),
    )
    await drain(conn)
  },
  /** Refuses the handshake as a server does whose versions or ciphers do not match: alert 40. */
  'tls-alert': async (conn) => {
    await conn.read(new Uint8Array(4_096))
    await conn.write(new Uint8Array([21, 3, 3, 0, 2, 2, 40]))
    await drain(conn)
  },
} satisfies Record<string, RawBehaviour>

export type RawReceiver = { port: number; close(): void }

/** Listens on the loopback address and does one thing to every connection. */
export function startRaw(behaviour: RawBehaviour): RawReceiver {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const open = new Set<Deno.Conn>()

  async function accept(): Promise<void> {
    for await (const conn of listener) {
      open.add(conn)
      void Promise.resolve(behaviour(conn)).catch(() => {}).finally(() => drop(conn))
    }
  }

  function drop(conn: Deno.Conn): void {
    if (!open.delete(conn)) return
    try {
      conn.close()
    } catch {
      // The behaviour has closed it.
    }
  }

  void accept()
  return {
    port: portOf(listener),
    close: () => {
      listener.close()
      open.forEach(drop)
    },
  }
}

/** Listens, accepts nothing and has its queue full, so that a further connection is never made. */
export async function startFull(): Promise<RawReceiver> {
  const options = { hostname: '127.0.0.1', port: 0, tcpBacklog: 1 }
  const listener = Deno.listen(options)
  const port = portOf(listener)
  // Linux takes one more than the backlog.
  const queued = await Promise.all([0, 1].map(() => Deno.connect({ hostname: '127.0.0.1', port })))
  return {
    port,
    close: () => {
      queued.forEach((conn) => conn.close())
      listener.close()
    },
  }
}

function portOf(listener: Deno.Listener): number {
  // SAFETY: a TCP listener's address is a NetAddr.
  return (listener.addr as Deno.NetAddr).port
}

async function write(conn: Deno.Conn, text: string): Promise<void> {
  for (let rest = encoder.encode(text); rest.length > 0;) {
    rest = rest.subarray(await conn.write(rest))
  }
}

async function drain(conn: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(65_536)
  while (await conn.read(buffer) !== null);
}
