import { isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Duplex } from 'node:stream'
import { serverChecks } from './server_checks.ts'
import type { Conn, TcpConn, TlsTo } from './runtime.ts'

/** A socket of Node. It has a listener for errors already: what reads or writes it gets them too. */
class NodeConn implements Conn {
  constructor(readonly socket: Socket) {}

  read(into: Uint8Array): Promise<number | null> {
    const { socket } = this
    return new Promise((resolve, reject) => {
      const events = ['readable', 'end', 'close'] as const
      const fail = (error: Error): void => settle(() => reject(error))
      const settle = (end: () => void): void => {
        for (const event of events) socket.off(event, take)
        socket.off('error', fail)
        end()
      }
      function take(): void {
        const size = Math.min(into.length, socket.readableLength)
        const bytes = size === 0 ? null : socket.read(size)
        if (bytes !== null) {
          into.set(bytes)
          settle(() => resolve(size))
        } else if (socket.readableEnded || socket.destroyed) settle(() => resolve(null))
      }
      for (const event of events) socket.on(event, take)
      socket.on('error', fail)
      take()
    })
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.socket.write(bytes, (error) => error ? reject(error) : resolve(bytes.length))
    })
  }

  close(): void {
    this.socket.destroy()
  }

  toStream(): Duplex {
    return this.socket
  }
}

/**
 * node:tls under Node, which reports a connection after its handshake. It does not tell an end of the connection
 * without the end of TLS from a complete one, so a body without a length may have been cut off unnoticed. Its
 * status decides the outcome.
 */
export class NodeTcpConn extends NodeConn implements TcpConn {
  #secure: Socket | null = null

  startTls({ hostname, ca }: TlsTo): Promise<Conn> {
    return new Promise((resolve, reject) => {
      const secure = connectTls({
        socket: this.socket,
        host: hostname,
        // RFC 6066 does not allow addresses in SNI.
        ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
        ...(ca === undefined ? {} : { ca }),
        ...serverChecks,
        ALPNProtocols: ['http/1.1'],
      })
      this.#secure = secure
      secure.once('secureConnect', () => resolve(new NodeConn(secure)))
      secure.on('error', reject)
      secure.once('close', () => reject(closedEarly()))
    })
  }

  override close(): void {
    this.#secure?.destroy()
    super.close()
  }
}

function closedEarly(): Error {
  const message = 'The connection was closed before the handshake had ended'
  return Object.assign(new Error(message), { code: 'ECONNRESET' })
}
