import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { asError } from '../base/errors.ts'
import type { AddressPolicy } from './address.ts'
import { runtime } from '../runtime/current.ts'
import { type Asker, type Resolve, type ResolvedAddress, shareLookups } from './share_lookups.ts'
import { blockedMessage } from './target.ts'

/** Connections to an address or a port are not allowed. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'
  readonly code = 'OUTHOOK_BLOCKED'

  constructor(message = blockedMessage) {
    super(message)
  }
}

/** Uses the system's resolver, with its hosts file. */
export const resolveBySystem: Resolve = shareLookups(
  (hostname) => systemLookup(hostname, { all: true, verbatim: true }),
  { threads: runtime.lookupThreads() },
)

/**
 * The vetted addresses of a name, IPv4 first because some hosts have no IPv6. If one address is not
 * allowed, the name is refused: otherwise the next connection might use that address. Rejects with
 * BlockedAddressError.
 */
export async function lookupVetted(
  hostname: string,
  policy: AddressPolicy,
  resolve: Resolve,
  asker?: Asker,
): Promise<ResolvedAddress[]> {
  const addresses = await resolve(hostname, asker)
  if (!addresses.every(({ address }) => policy.allows(address))) {
    throw new BlockedAddressError()
  }
  // Not in place: a shared lookup gives the same array to others.
  return addresses.toSorted((a, b) => a.family - b.family)
}

/**
 * `lookup` for `net.connect` and `tls.connect`. The connection uses an address that was vetted in the
 * same lookup, so that DNS rebinding between check and connect has no effect.
 */
export function vettedLookup(
  policy: AddressPolicy,
  resolve: Resolve = resolveBySystem,
  asker?: Asker,
): LookupFunction {
  return function lookup(hostname, options, callback): void {
    lookupVetted(hostname, policy, resolve, asker).then((addresses) => {
      const [first] = addresses
      if (first === undefined) {
        callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
      } else if (options.all === true) {
        callback(null, addresses)
      } else {
        callback(null, first.address, first.family)
      }
    }, (cause) => callback(asError(cause), '', 0))
  }
}
