import type { Duplex } from 'node:stream'
import { DenoStream } from './deno_stream.ts'
import { coded } from './deno_error.ts'
import type { Conn, Runtime, TcpConn, TlsTo } from './runtime.ts'

/** The effects of the worker under Deno. */
export const denoRuntime: Runtime = {
  hasSafeFetch: true,
  environment: () => Deno.env.toObject(),
  onStopSignal,
  writeStdout,
  exit: (code) => Deno.exit(code),
  // The task of deno.json has the flags.
  restartWithFlags: () => null,
  threadsProblem: () => null,
  // All threads for work that blocks.
  lookupThreads: () => 32,
  connectTcp: async (to) => {
    const conn = await Deno.connect(to)
    conn.setNoDelay(true)
    conn.setKeepAlive(true)
    return new DenoTcpConn(conn)
  },
}

function onStopSignal(stop: () => void): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) Deno.addSignalListener(signal, stop)
}

/** A pipe may accept only a part at once. */
function writeStdout(text: string): void {
  for (let rest = new TextEncoder().encode(text); rest.length > 0;) {
    rest = rest.subarray(Deno.stdout.writeSync(rest))
  }
}

class DenoConn implements Conn {
  constructor(protected open: Deno.Conn) {}

  read(into: Uint8Array): Promise<number | null> {
    return this.open.read(into)
  }

  write(bytes: Uint8Array): Promise<number> {
    return this.open.write(bytes)
  }

  close(): void {
    closeQuietly(this.open)
  }

  toStream(): Duplex {
    return new DenoStream(this.open)
  }
}

/**
 * It uses Deno's TLS and not node:tls, which under Deno 2.9 reports an expired certificate as an unknown issuer
 * and accepts a certificate that has its name only in the common name (RFC 9525 section 2), and under Deno 2.1
 * reports a connection as open before the handshake.
 */
class DenoTcpConn extends DenoConn implements TcpConn {
  #isClosed = false

  constructor(readonly conn: Deno.TcpConn) {
    super(conn)
  }

  async startTls({ hostname, ca }: TlsTo): Promise<Conn> {
    try {
      const caCerts = ca === undefined ? {} : { caCerts: [ca] }
      const options = { hostname, alpnProtocols: ['http/1.1'], ...caCerts }
      const secure = await Deno.startTls(this.conn, options)
      this.open = secure
      if (this.#isClosed) this.close()
      await secure.handshake()
      return new DenoConn(secure)
    } catch (error) {
      throw coded(error)
    }
  }

  override close(): void {
    this.#isClosed = true
    super.close()
  }
}

/** Deno.startTls() takes over the connection, and a closed or taken one cannot be closed. */
function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close()
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error
  }
}
