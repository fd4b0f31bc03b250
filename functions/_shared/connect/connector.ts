import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import type { AddressPolicy } from './address.ts'
import { BlockedAddressError, type Resolve } from './lookup.ts'
import { openSocket, openTlsOver, type SocketOptions } from './socket.ts'
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
 * Opens vetted sockets for undici, through the policy's proxy where there is one. It takes the place of undici's own
 * connector, which checks no literal address and whose timer for connecting ticks on, shared by all connections, after the
 * last of them is closed.
 */
export function createConnector(
  { policy, timeoutMs, proxyAuthorization, ...more }: ConnectorOptions,
): buildConnector.connector {
  const { proxyUrl = '' } = policy.rules

  return function connect({ hostname, port, protocol }, callback): void {
    const tls = protocol === 'https:'
    const options: SocketOptions = {
      hostname,
      port: Number(port) || (tls ? 443 : 80),
      tls,
      policy,
      alpn: ['http/1.1'],
      ...more,
    }
    if (!isAllowedHost(hostname, policy)) return callback(new BlockedAddressError(), null)
    let give: (() => void) | null = null
    let isSettled = false
    const timer = setTimeout(() => settle(timeoutError(), null), timeoutMs)
    if (proxyUrl === '') begin(openSocket(options), tls ? 'secureConnect' : 'connect')
    else beginTunnel()

    function begin(socket: Socket, event: 'connect' | 'secureConnect' | null): void {
      give = () => socket.destroy()
      socket.on('error', (error) => settle(error, null))
      // A peer that closes in the TLS handshake is not always an error to Deno, and undici would wait on.
      socket.once('close', () => settle(closedError(), null))
      socket.setNoDelay(true)
      socket.setKeepAlive(true, 60_000)
      if (event === null) settle(null, socket)
      else socket.once(event, () => settle(null, socket))
    }

    function beginTunnel(): void {
      const target = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${options.port}`
      const tunnel = openTunnel(proxyUrl, target, proxyAuthorization)
      give = tunnel.abandon
      tunnel.opened.then((socket) => {
        if (isSettled) socket.destroy()
        else if (tls) begin(openTlsOver(socket, options), 'secureConnect')
        else begin(socket, null)
      }, (cause) => settle(cause instanceof Error ? cause : new Error(String(cause)), null))
    }

    function settle(...result: [Error, null] | [null, Socket]): void {
      clearTimeout(timer)
      if (isSettled) return
      isSettled = true
      if (result[0] !== null) give?.()
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
