import { isIP } from 'node:net'
import type { Conn } from '../runtime/runtime.ts'
import type { AddressPolicy } from './address.ts'
import { checkDial } from './dial.ts'
import { connectFirst } from './first_address.ts'
import { lookupVetted, resolveBySystem } from './lookup.ts'
import type { Asker, Resolve } from './share_lookups.ts'
import { startTls } from './tls.ts'

export type SecureOptions = {
  /** A name, or an address without brackets. */
  hostname: string
  port: number
  policy: AddressPolicy
  resolve?: Resolve | undefined
  ca?: string | undefined
  asker?: Asker | undefined
  /** Aborting closes the connection. */
  signal: AbortSignal
}

/**
 * Opens a vetted TLS connection for HTTP/1.1. Throws BlockedAddressError for a literal address or a port that
 * is not allowed, and rejects with it for a name.
 */
export async function openSecure(
  { hostname, port, policy, resolve = resolveBySystem, ca, asker, signal }: SecureOptions,
): Promise<Conn> {
  checkDial({ hostname, port, policy })
  const addresses = isIP(hostname) === 0
    ? await lookupVetted(hostname, policy, resolve, asker)
    : [{ address: hostname, family: isIP(hostname) }]
  const conn = await connectFirst(addresses, port, signal)
  return await startTls(conn, { hostname, ca, signal })
}
