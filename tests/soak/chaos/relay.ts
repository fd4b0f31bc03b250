/** What a relay does with the bytes that pass. */
export type Weather =
  | { kind: 'pass' }
  /** Each piece waits so long. */
  | { kind: 'delay'; ms: number }
  /** So many bytes a second. */
  | { kind: 'slow'; rate: number }
  /** Each piece arrives in two halves. */
  | { kind: 'halve' }
  /** Nothing passes, and no connection ends. */
  | { kind: 'hold' }
  /** The next piece of each connection is cut in half, and the connection ends. */
  | { kind: 'truncate' }
  /** Connections end, and new ones are not taken. */
  | { kind: 'refuse' }

/** A way to a port whose weather the adversary makes. */
export interface Relay extends Disposable {
  readonly port: number
  set(weather: Weather): void
  /** Ends all connections; new ones are taken. */
  cut(): void
}

/** Forwards a free port of 127.0.0.1 to another one. */
export function startRelay(to: number): Relay {
  let weather: Weather = { kind: 'pass' }
  let changed = Promise.withResolvers<void>()
  const open = new Set<Deno.Conn>()
  const listener = Deno.listen({ hostname: '127.0.0.1', port: 0 })
  void accept()

  async function accept(): Promise<void> {
    for await (const near of listener) void forward(near)
  }

  async function forward(near: Deno.Conn): Promise<void> {
    if (weather.kind === 'refuse') return close(near)
    open.add(near)
    const far = await Deno.connect({ hostname: '127.0.0.1', port: to }).catch(() => null)
    if (far === null) return close(near)
    open.add(far)
    await Promise.race([pump(near, far), pump(far, near)]).catch(() => {})
    close(near)
    close(far)
  }

  async function pump(from: Deno.Conn, into: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(65_536)
    for (;;) {
      const size = await from.read(buffer)
      if (size === null) return
      const piece = buffer.slice(0, size)
      while (weather.kind === 'hold') await changed.promise
      const half = Math.ceil(size / 2)
      if (weather.kind === 'truncate') return await write(into, piece.subarray(0, half))
      if (weather.kind === 'delay') await pause(weather.ms)
      if (weather.kind === 'slow') await pause(size / weather.rate * 1_000)
      if (weather.kind === 'halve') {
        await write(into, piece.subarray(0, half))
        await pause(5)
        await write(into, piece.subarray(half))
      } else {
        await write(into, piece)
      }
    }
  }

  function cut(): void {
    ;[...open].forEach(close)
  }

  function close(conn: Deno.Conn): void {
    open.delete(conn)
    try {
      conn.close()
    } catch {
      // Its other side has ended it.
    }
  }

  function set(next: Weather): void {
    weather = next
    changed.resolve()
    changed = Promise.withResolvers()
    if (next.kind === 'refuse') cut()
  }

  function end(): void {
    listener.close()
    set({ kind: 'pass' })
    cut()
  }

  return { port: listener.addr.port, set, cut, [Symbol.dispose]: end }
}

async function write(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  let rest = bytes
  while (rest.length > 0) rest = rest.subarray(await conn.write(rest))
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
