import type { AddressPolicy } from './address.ts'
import { BlockedAddressError } from './lookup.ts'
import { isAllowedHost, portMessage } from './target.ts'

/**
 * Checks every connection, also those to which a broker redirects: the port must be allowed, and the
 * host too if it is an address. The addresses of a host name are checked by its lookup. Throws
 * BlockedAddressError.
 */
export function checkDial(
  { hostname, port, policy }: { hostname: string; port: number; policy: AddressPolicy },
): void {
  if (!policy.allowsPort(port)) throw new BlockedAddressError(portMessage)
  if (!isAllowedHost(hostname, policy)) throw new BlockedAddressError()
}
