/** A way to a broker or a database that the test can cut. */
export interface TestProxy extends Disposable {
  readonly port: number
  /** Closes every connection that is open now; new ones are taken. */
  drop(): void
  /** Closes them, and refuses new ones. */
  down(): void
  /** Takes connections again, on the same port. */
  up(): void
  /** Closes them, and forwards new ones to another port. */
  moveTo(port: number): void
}

/** Forwards a free port of 127.0.0.1 to another one: the first of several that takes the connection. */
export function startProxy(...to: number[]): TestProxy {
  let listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  const { port } = listener.addr
  const open = new Set<Deno.Conn>()
  let targets = to
  void accept(listener)

  async function accept(from: Deno.TcpListener): Promise<void> {
    for await (const conn of from) {
      open.add(conn)
      void forward(conn)
    }
  }

  async function forward(conn: Deno.Conn): Promise<void> {
    try {
      const far = await connectTo(targets)
      open.add(far)
      await Promise.race([
        conn.readable.pipeTo(far.writable),
        far.readable.pipeTo(conn.writable),
      ])
      close(far)
    } catch {
      // One side is gone, so the other goes, too.
    }
    close(conn)
  }

  function close(conn: Deno.Conn): void {
    if (!open.delete(conn)) return
    try {
      conn.close()
    } catch {
      // Its stream has closed it.
    }
  }

  function drop(): void {
    ;[...open].forEach(close)
  }

  function down(): void {
    listener.close()
    drop()
  }

  function up(): void {
    listener = Deno.listen({ hostname: '127.0.0.1', port })
    void accept(listener)
  }

  function moveTo(other: number): void {
    targets = [other]
    drop()
  }

  return { port, drop, down, up, moveTo, [Symbol.dispose]: down }
}

async function connectTo([port = 0, ...others]: readonly number[]): Promise<Deno.TcpConn> {
  try {
    return await Deno.connect({ hostname: '127.0.0.1', port })
  } catch (error) {
    if (others.length === 0) throw error
    return await connectTo(others)
  }
}
