import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { serverChecks } from '../runtime/server_checks.ts'
import type { AddressPolicy } from './address.ts'
import { resolveBySystem, vettedLookup } from './lookup.ts'
import type { Asker, Resolve } from './share_lookups.ts'
import { checkDial } from './dial.ts'

export type SocketOptions = {
  /** A name, or an address without brackets. */
  hostname: string
  port: number
  tls: boolean
  policy: AddressPolicy
  resolve?: Resolve
  /** Certificates (PEM) to trust instead of the default roots. */
  ca?: string | undefined
  asker?: Asker | undefined
}

/**
 * Opens a vetted connection, for HTTP without TLS and for brokers. A literal address is checked here, because clients
 * do not call `lookup` for one; a name connects to the address that was vetted. Throws
 * BlockedAddressError.
 */
export function openSocket(options: SocketOptions): Socket {
  const socket = options.tls
    ? connectTls({ ...vettedOptions(options), ...tlsOptions(options) })
    : connectTcp(vettedOptions(options))
  return socket.setNoDelay(true).setKeepAlive(true, 60_000)
}

/**
 * The options of `net.connect` or `tls.connect` for such a connection, for clients that open it. Throws
 * BlockedAddressError.
 */
export function vettedOptions(
  { hostname, port, policy, resolve = resolveBySystem, asker }: Omit<SocketOptions, 'tls'>,
): { host: string; port: number; lookup: LookupFunction } {
  checkDial({ hostname, port, policy })
  return { host: hostname, port, lookup: vettedLookup(policy, resolve, asker) }
}

type TlsOptions = typeof serverChecks & { servername?: string; ca?: string }

function tlsOptions({ hostname, ca }: SocketOptions): TlsOptions {
  return {
    ...serverChecks,
    // RFC 6066 does not allow addresses in SNI.
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...(ca === undefined ? {} : { ca }),
  }
}
