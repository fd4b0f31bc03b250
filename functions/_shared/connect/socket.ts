import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { AddressPolicy } from './address.ts'
import { BlockedAddressError, type Resolve, resolveBySystem, vettedLookup } from './lookup.ts'
import { isAllowedHost } from './target.ts'

/** Where to connect to, and under which rules. */
export type SocketOptions = {
  /** A name, or an address without brackets. */
  hostname: string
  port: number
  tls: boolean
  policy: AddressPolicy
  resolve?: Resolve
  /** Certificates in PEM that are trusted as roots instead of the usual ones. */
  ca?: string | undefined
  /** Protocols that TLS offers, such as `http/1.1`. */
  alpn?: string[]
}

/**
 * Begins a vetted connection: a literal address is checked here, since no client calls `lookup` for
 * one; a name goes to the very address that was vetted for it. Every sender's sockets come from
 * here. Throws BlockedAddressError.
 */
export function openSocket(options: SocketOptions): Socket {
  const socket = options.tls
    ? connectTls({ ...vettedOptions(options), ...tlsOptions(options) })
    : connectTcp(vettedOptions(options))
  return socket.setNoDelay(true).setKeepAlive(true, 60_000)
}

/**
 * The same for a client that insists on connecting by itself and hands these on to `net.connect` or
 * `tls.connect`. Throws BlockedAddressError.
 */
export function vettedOptions(
  { hostname, port, policy, resolve = resolveBySystem }: Omit<SocketOptions, 'tls'>,
): { host: string; port: number; lookup: LookupFunction } {
  if (!isAllowedHost(hostname, policy)) throw new BlockedAddressError()
  return { host: hostname, port, lookup: vettedLookup(policy, resolve) }
}

type TlsOptions = { ALPNProtocols?: string[]; servername?: string; ca?: string }

function tlsOptions({ hostname, ca, alpn }: SocketOptions): TlsOptions {
  return {
    ...(alpn === undefined ? {} : { ALPNProtocols: alpn }),
    // RFC 6066 knows no addresses there.
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...(ca === undefined ? {} : { ca }),
  }
}
