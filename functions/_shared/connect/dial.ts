import type { AddressPolicy } from './address.ts'
import { BlockedAddressError } from './lookup.ts'
import { isAllowedHost, portMessage } from './target.ts'

/**
 * The gate of every connection, also of those to which a broker redirects: the port is allowed, and so is
 * a host that is a literal address. The addresses of a name are checked by its lookup. Throws
 * BlockedAddressError.
 */
export function checkDial(
  { hostname, port, policy }: { hostname: string; port: number; policy: AddressPolicy },
): void {
  if (!policy.allowsPort(port)) throw new BlockedAddressError(portMessage)
  if (!isAllowedHost(hostname, policy)) throw new BlockedAddressError()
}
