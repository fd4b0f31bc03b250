import { runtime } from '../runtime/current.ts'
import type { Conn, TcpConn } from '../runtime/runtime.ts'
import { BlockedAddressError } from './lookup.ts'
import { startTls } from './tls.ts'

export type TunnelOptions = {
  /** `http://host:port`, configured by the operator and not vetted. */
  proxyUrl: string
  /** The value of proxy-authorization. */
  authorization?: string | undefined
  /** A name, which the proxy resolves and vets, or an address without brackets. */
  hostname: string
  port: number
  tls: boolean
  ca?: string | undefined
  /** Aborting closes the connection. */
  signal: AbortSignal
}

/** The longest response to CONNECT. */
const longestHead = 16_384

/**
 * Opens a connection through a proxy (CONNECT, RFC 9110 section 9.3.6), with TLS inside if requested.
 * Rejects with errors that faultOf() can classify.
 */
export async function openTunnel(options: TunnelOptions): Promise<Conn> {
  const { hostname, tls, ca, signal } = options
  const conn = await connectProxy(options)
  const close = (): void => conn.close()
  signal.addEventListener('abort', close)
  try {
    await askFor(options, conn)
  } catch (error) {
    close()
    throw error
  } finally {
    signal.removeEventListener('abort', close)
  }
  return tls ? await startTls(conn, { hostname, ca, signal }) : conn
}

async function connectProxy({ proxyUrl, signal }: TunnelOptions): Promise<TcpConn> {
  const { hostname, port } = new URL(proxyUrl)
  let conn: TcpConn
  try {
    // An IPv6 address has brackets in a URL only.
    const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
    conn = await runtime.connectTcp({ hostname: host, port: Number(port) || 80 })
  } catch {
    throw unreachable()
  }
  if (signal.aborted) {
    conn.close()
    throw unreachable()
  }
  return conn
}

async function askFor(options: TunnelOptions, conn: Conn): Promise<void> {
  const { hostname, port, authorization } = options
  const target = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  const lines = [`CONNECT ${target} HTTP/1.1`, `host: ${target}`]
  if (authorization !== undefined) lines.push(`proxy-authorization: ${authorization}`)
  await writeAll(conn, new TextEncoder().encode(lines.join('\r\n') + '\r\n\r\n'))
  const status = Number(/^HTTP\/1\.[01] ([0-9]{3})/.exec(await readHead(conn))?.[1])
  if (status === 403) throw new BlockedAddressError()
  if (!(status >= 200 && status < 300)) throw unreachable()
}

/** Reads byte by byte to the empty line: the bytes after it belong to TLS. */
async function readHead(conn: Conn): Promise<string> {
  const byte = new Uint8Array(1)
  let head = ''
  while (!head.endsWith('\r\n\r\n')) {
    if (head.length > longestHead || await conn.read(byte) === null) throw unreachable()
    head += String.fromCharCode(byte[0] ?? 0)
  }
  return head
}

async function writeAll(conn: Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at))
}

/** A generic error, because the proxy's own text may reveal internal networks. */
function unreachable(): Error {
  return Object.assign(new Error('The proxy did not connect'), { code: 'EHOSTUNREACH' })
}
