import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { buildConnector } from 'undici'
import { asError } from '../errors.ts'
import type { AddressPolicy } from './address.ts'
import { ConnStream } from './conn_stream.ts'
import { BlockedAddressError, type Resolve } from './lookup.ts'
import { openSocket } from './socket.ts'
import { isAllowedHost } from './target.ts'
import { openTunnel } from './tunnel.ts'

export type ConnectorOptions = {
  policy: AddressPolicy
  /** For name, TCP and TLS together. */
  timeoutMs: number
  resolve?: Resolve
  /** Certificates in PEM that are trusted as roots instead of the usual ones. */
  ca?: string | undefined
  /** For a proxy that asks who is there, as `Basic <base64>`. */
  proxyAuthorization?: string | undefined
}

/**
 * Opens vetted sockets for undici, through the policy's proxy where there is one. It takes the
 * place of undici's own connector, which checks no literal address and whose timer for connecting
 * ticks on, shared by all connections, after the last of them is closed.
 */
export function createConnector(
  { policy, timeoutMs, proxyAuthorization, ...more }: ConnectorOptions,
): buildConnector.connector {
  const { proxyUrl = '' } = policy.rules

  return function connect({ hostname, port, protocol }, callback): void {
    const tls = protocol === 'https:'
    const to = { hostname, port: Number(port) || (tls ? 443 : 80), tls }
    if (!isAllowedHost(hostname, policy)) return callback(new BlockedAddressError(), null)
    const limit = new AbortController()
    const timer = setTimeout(() => settle(timeoutError(), null), timeoutMs)
    let isSettled = false
    if (proxyUrl === '') connectDirectly()
    else connectThroughProxy()

    function connectDirectly(): void {
      const socket = openSocket({ ...to, policy, alpn: ['http/1.1'], ...more })
      socket.on('error', (error) => settle(error, null))
      // A peer that closes in the TLS handshake is not always an error to Deno, and undici would
      // wait on.
      socket.once('close', () => settle(closedError(), null))
      socket.once(tls ? 'secureConnect' : 'connect', () => settle(null, socket))
      limit.signal.addEventListener('abort', () => socket.destroy())
    }

    function connectThroughProxy(): void {
      const tunnel = { ...to, proxyUrl, authorization: proxyAuthorization, ca: more.ca }
      openTunnel({ ...tunnel, signal: limit.signal }).then((conn) => {
        if (isSettled) return conn.close()
        // SAFETY: undici uses of a socket what any duplex stream has, and asks before it uses more.
        settle(null, new ConnStream(conn) as Duplex as Socket)
      }, (cause) => settle(asError(cause), null))
    }

    function settle(...result: [Error, null] | [null, Socket]): void {
      if (isSettled) return
      isSettled = true
      clearTimeout(timer)
      if (result[0] !== null) limit.abort()
      callback(...result)
    }
  }
}

function timeoutError(): Error {
  return Object.assign(new Error('The connection was not made in time'), { code: 'ETIMEDOUT' })
}

function closedError(): Error {
  return Object.assign(new Error('The connection was closed before it was made'), {
    code: 'ECONNRESET',
  })
}
