/** What the proxy does with a request to connect: connect it somewhere, or answer a status, or nothing. */
export type ProxyCourse = { connectTo: number } | { status: number } | 'hang'

export type ConnectProxy = {
  url: string
  /** The requests that came: their targets, and what each said in proxy-authorization. */
  asked: { target: string; authorization: string | null }[]
  close(): Promise<void>
}

/** Starts a proxy on the loopback address that knows CONNECT alone and leads every tunnel to one port of it. */
export function startConnectProxy(course: ProxyCourse): ConnectProxy {
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const asked: ConnectProxy['asked'] = []
  const open = new Set<Deno.Conn>()
  const serving = new Set<Promise<void>>()

  async function accept(): Promise<void> {
    for await (const conn of listener) {
      open.add(conn)
      const served = serve(conn).catch(() => {}).finally(() => {
        drop(conn)
        serving.delete(served)
      })
      serving.add(served)
    }
  }

  async function serve(conn: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(4096)
    const head = new TextDecoder().decode(buffer.subarray(0, await conn.read(buffer) ?? 0))
    const target = /^CONNECT (\S+) HTTP\/1\.1\r\n/.exec(head)?.[1] ?? ''
    const authorization = /^proxy-authorization: (.*)\r$/im.exec(head)?.[1] ?? null
    asked.push({ target, authorization })
    if (course === 'hang') return void await conn.read(buffer)
    if ('status' in course) {
      await say(conn, `HTTP/1.1 ${course.status} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const onward = await Deno.connect({ hostname: '127.0.0.1', port: course.connectTo })
    open.add(onward)
    await say(conn, 'HTTP/1.1 200 Connected\r\n\r\n')
    const both = [conn.readable.pipeTo(onward.writable), onward.readable.pipeTo(conn.writable)]
    await Promise.allSettled(both)
  }

  async function say(conn: Deno.Conn, text: string): Promise<void> {
    await conn.write(new TextEncoder().encode(text))
  }

  function drop(conn: Deno.Conn): void {
    if (!open.delete(conn)) return
    try {
      conn.close()
    } catch {
      // The pipes have closed it.
    }
  }

  async function close(): Promise<void> {
    listener.close()
    for (const conn of open) drop(conn)
    await Promise.all([accepting, ...serving])
  }

  const accepting = accept()
  return { url: `http://127.0.0.1:${listener.addr.port}`, asked, close }
}
