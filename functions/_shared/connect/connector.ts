import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import type { AddressPolicy } from './address.ts'
import { BlockedAddressError, type Resolve, resolveBySystem, vettedLookup } from './lookup.ts'
import { isAllowedHost } from './target.ts'

export type ConnectorOptions = {
  policy: AddressPolicy
  /** For name, TCP and TLS together. */
  timeoutMs: number
  resolve?: Resolve
  /** Certificates in PEM that are trusted as roots instead of the usual ones. */
  ca?: string | undefined
}

/**
 * Opens vetted sockets for undici. It takes the place of undici's own connector, which checks no literal address and whose
 * timer for connecting ticks on, shared by all connections, after the last of them is closed.
 */
export function createConnector(
  { policy, timeoutMs, resolve = resolveBySystem, ca }: ConnectorOptions,
): buildConnector.connector {
  const lookup = vettedLookup(policy, resolve)

  function open(hostname: string, port: number, isTls: boolean): Socket {
    if (!isTls) return connectTcp({ host: hostname, port, lookup })
    return connectTls({
      host: hostname,
      port,
      lookup,
      ALPNProtocols: ['http/1.1'],
      // RFC 6066 knows no addresses there.
      ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
      ...(ca === undefined ? {} : { ca }),
    })
  }

  return function connect({ hostname, port, protocol }, callback): void {
    if (!isAllowedHost(hostname, policy)) return callback(new BlockedAddressError(), null)
    const isTls = protocol === 'https:'
    const socket = open(hostname, Number(port) || (isTls ? 443 : 80), isTls)
    const timer = setTimeout(() => socket.destroy(timeoutError()), timeoutMs)
    let isSettled = false
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    socket.once(isTls ? 'secureConnect' : 'connect', () => settle(null))
    socket.on('error', settle)

    function settle(error: Error | null): void {
      clearTimeout(timer)
      if (isSettled) return
      isSettled = true
      if (error === null) callback(null, socket)
      else callback(error, null)
    }
  }
}

function timeoutError(): Error {
  return Object.assign(new Error('The connection was not made in time'), { code: 'ETIMEDOUT' })
}
