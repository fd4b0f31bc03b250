import type { Conn, TcpConn, TlsTo } from '../runtime/runtime.ts'

/** What a TLS connection is checked against. */
export type TlsOptions = TlsTo & {
  /** Aborting closes the connection. */
  signal: AbortSignal
}

/**
 * Starts TLS on a connection and resolves after the handshake. It takes over the connection and closes it on
 * failure.
 */
export async function startTls(conn: TcpConn, { signal, ...to }: TlsOptions): Promise<Conn> {
  const close = (): void => conn.close()
  if (signal.aborted) close()
  signal.addEventListener('abort', close)
  try {
    return await conn.startTls(to)
  } catch (error) {
    close()
    throw error
  } finally {
    signal.removeEventListener('abort', close)
  }
}
