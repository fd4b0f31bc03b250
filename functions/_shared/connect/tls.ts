import { coded } from './tls_problem.ts'

/** What a TLS connection is checked against. */
export type TlsOptions = {
  /** A name, or an address without brackets. */
  hostname: string
  /** Certificates (PEM) to trust instead of the default roots. */
  ca?: string | undefined
  /** Aborting closes the connection. */
  signal: AbortSignal
}

/**
 * Starts TLS on a connection and resolves after the handshake. It uses Deno's TLS and not node:tls, which under
 * Deno 2.9 reports an expired certificate as an unknown issuer and accepts a certificate that has its name
 * only in the common name (RFC 9525 section 2), and under Deno 2.1 reports a connection as open before the
 * handshake. It takes over the connection and closes it on failure.
 */
export async function startTls(
  conn: Deno.TcpConn,
  { hostname, ca, signal }: TlsOptions,
): Promise<Deno.TlsConn> {
  let open: Deno.Conn = conn
  const close = (): void => closeQuietly(open)
  if (signal.aborted) close()
  signal.addEventListener('abort', close)
  try {
    const caCerts = ca === undefined ? {} : { caCerts: [ca] }
    const secure = await Deno.startTls(conn, { hostname, alpnProtocols: ['http/1.1'], ...caCerts })
    open = secure
    if (signal.aborted) close()
    await secure.handshake()
    return secure
  } catch (error) {
    close()
    throw coded(error)
  } finally {
    signal.removeEventListener('abort', close)
  }
}

/** Deno.startTls() takes over the connection, and a closed or taken one cannot be closed. */
export function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close()
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error
  }
}
