import { BlockedAddressError } from './lookup.ts'

export type TunnelOptions = {
  /** `http://host:port`; its address is the operator's and is not vetted. */
  proxyUrl: string
  /** Goes into proxy-authorization. */
  authorization?: string | undefined
  /** A name, which the proxy looks up and vets, or an address without brackets. */
  hostname: string
  port: number
  tls: boolean
  ca?: string | undefined
  /** Closes what is there when it is aborted. */
  signal: AbortSignal
}

/** An answer to CONNECT beyond this is none. */
const longestHead = 16_384

/**
 * A connection through a proxy (CONNECT, RFC 9110 section 9.3.6), with TLS inside where it is asked
 * for. Deno's own sockets: under Deno 2.1 node:tls begins no TLS on a connection that stands, so
 * nothing that builds on it reaches https. Rejects with what a sender's faults are sorted by.
 */
export async function openTunnel(options: TunnelOptions): Promise<Deno.Conn> {
  const { hostname, tls, ca, signal } = options
  const conn = await connectProxy(options)
  let open: Deno.Conn = conn
  const close = (): void => closeQuietly(open)
  signal.addEventListener('abort', close)
  try {
    await askFor(options, conn)
    if (!tls) return conn
    const caCerts = ca === undefined ? {} : { caCerts: [ca] }
    const secure = await Deno.startTls(conn, { hostname, alpnProtocols: ['http/1.1'], ...caCerts })
    open = secure
    await secure.handshake()
    return secure
  } catch (error) {
    close()
    throw error
  } finally {
    signal.removeEventListener('abort', close)
  }
}

async function connectProxy({ proxyUrl, signal }: TunnelOptions): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(proxyUrl)
  let conn: Deno.TcpConn
  try {
    conn = await Deno.connect({ hostname, port: Number(port) || 80 })
  } catch {
    throw unreachable()
  }
  if (signal.aborted) {
    conn.close()
    throw unreachable()
  }
  conn.setNoDelay(true)
  conn.setKeepAlive(true)
  return conn
}

/** TLS takes the connection over, and one that was taken or closed cannot be closed. */
function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close()
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error
  }
}

async function askFor(options: TunnelOptions, conn: Deno.Conn): Promise<void> {
  const { hostname, port, authorization } = options
  const target = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  const lines = [`CONNECT ${target} HTTP/1.1`, `host: ${target}`]
  if (authorization !== undefined) lines.push(`proxy-authorization: ${authorization}`)
  await writeAll(conn, new TextEncoder().encode(lines.join('\r\n') + '\r\n\r\n'))
  const status = Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(await readHead(conn))?.[1])
  if (status === 403) throw new BlockedAddressError()
  if (!(status >= 200 && status < 300)) throw unreachable()
}

/**
 * Byte by byte to the empty line: what follows it is the receiver's, and TLS wants it untouched.
 */
async function readHead(conn: Deno.Conn): Promise<string> {
  const byte = new Uint8Array(1)
  let head = ''
  while (!head.endsWith('\r\n\r\n')) {
    if (head.length > longestHead || await conn.read(byte) === null) throw unreachable()
    head += String.fromCharCode(byte[0] ?? 0)
  }
  return head
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at))
}

/** What the proxy says of it may tell of the inside. */
function unreachable(): Error {
  return Object.assign(new Error('The proxy did not connect'), { code: 'EHOSTUNREACH' })
}
