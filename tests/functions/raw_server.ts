const encoder = new TextEncoder()

/** An HTTP response of 200 with a body of two letters. */
export const okResponse = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A connection of a raw server. */
export type RawConn = {
  /** Which connection of the server it is, from 1. */
  nth: number
  conn: Deno.TcpConn
  /** Reads one whole request, and returns its path; null: the client has closed the connection. */
  request(): Promise<string | null>
  write(text: string | Uint8Array): Promise<void>
  /** Resolves when the client has closed the connection. */
  closed(): Promise<void>
}

export interface RawServer extends AsyncDisposable {
  url: string
  /** The paths of all requests, each with the number of its connection. */
  received: [nth: number, path: string][]
  /** How many connections were accepted. */
  readonly accepted: number
}

/** Serves each connection with `serve`, and closes it when `serve` ends. */
export function startRawServer(serve: (one: RawConn) => Promise<void>): RawServer {
  const listener = Deno.listen({ port: 0, hostname: '127.0.0.1' })
  const received: [nth: number, path: string][] = []
  const open = new Map<Deno.TcpConn, Promise<void>>()
  let accepted = 0

  async function accept(): Promise<void> {
    for await (const conn of listener) {
      const one = rawConn(conn, ++accepted, received)
      const ends = serve(one).catch(() => {}).finally(() => {
        closeQuietly(conn)
        open.delete(conn)
      })
      open.set(conn, ends)
    }
  }

  const accepting = accept()
  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    received,
    get accepted() {
      return accepted
    },
    async [Symbol.asyncDispose](): Promise<void> {
      listener.close()
      const ends = [...open.values()]
      for (const conn of open.keys()) closeQuietly(conn)
      await Promise.all([accepting, ...ends])
    },
  }
}

function rawConn(conn: Deno.TcpConn, nth: number, received: [number, string][]): RawConn {
  let text = ''

  async function readMore(): Promise<boolean> {
    const buffer = new Uint8Array(65_536)
    const size = await conn.read(buffer).catch(() => null)
    if (size !== null) text += new TextDecoder('latin1').decode(buffer.subarray(0, size))
    return size !== null
  }

  return {
    nth,
    conn,
    async request(): Promise<string | null> {
      for (;;) {
        const end = text.indexOf('\r\n\r\n')
        const length = Number(/content-length: ([0-9]+)/.exec(text)?.[1] ?? 0)
        if (end >= 0 && text.length >= end + 4 + length) {
          const path = text.split(' ')[1] ?? ''
          text = text.slice(end + 4 + length)
          received.push([nth, path])
          return path
        }
        if (!await readMore()) return null
      }
    },
    async write(data): Promise<void> {
      const bytes = typeof data === 'string' ? latin1(data) : data
      for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at))
    },
    async closed(): Promise<void> {
      while (await readMore());
    },
  }
}

function latin1(text: string): Uint8Array {
  // deno-lint-ignore no-control-regex -- the characters that are one byte in UTF-8 too
  if (/^[\x00-\x7f]*$/.test(text)) return encoder.encode(text)
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

function closeQuietly(conn: Deno.TcpConn): void {
  try {
    conn.close()
  } catch {
    // `serve` has closed it.
  }
}
