/** A relay to a Postgres server that passes on all but notifications, as a pooler in transaction mode. */

export type DeafRelay = AsyncDisposable & { url: string }

/** 'A', the type of NotificationResponse: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const notification = 0x41

/** `dbUrl`: the server. The result is on a free port of 127.0.0.1. */
export function startDeafRelay(dbUrl: string): DeafRelay {
  const server = new URL(dbUrl)
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const open = new Set<Deno.Conn>()
  const accepting = accept()

  async function accept(): Promise<void> {
    for await (const client of listener) {
      const conn = await Deno.connect({ hostname: server.hostname, port: Number(server.port) })
      open.add(client).add(conn)
      void client.readable.pipeTo(conn.writable).catch(() => {})
      void conn.readable.pipeThrough(withoutNotifications()).pipeTo(client.writable).catch(() => {})
    }
  }

  const url = new URL(dbUrl)
  url.host = `127.0.0.1:${listener.addr.port}`
  return {
    url: url.href,
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close()
      for (const conn of open) {
        try {
          conn.close()
        } catch {
          // The other side has closed it.
        }
      }
      await accepting
    },
  }
}

/** Each message has its type in a byte, then its length in four, which count themselves. */
function withoutNotifications(): TransformStream<Uint8Array, Uint8Array> {
  let rest = new Uint8Array()
  return new TransformStream({
    transform(bytes, controller): void {
      rest = new Uint8Array([...rest, ...bytes])
      while (rest.length >= 5) {
        const length = 1 + new DataView(rest.buffer, rest.byteOffset).getUint32(1)
        if (rest.length < length) return
        if (rest[0] !== notification) controller.enqueue(rest.slice(0, length))
        rest = rest.slice(length)
      }
    },
  })
}
