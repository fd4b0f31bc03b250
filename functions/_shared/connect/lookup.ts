import { lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { asError } from '../base/errors.ts'
import type { AddressPolicy } from './address.ts'
import { blockedMessage } from './target.ts'

/** One address of a name; `family` is 4 or 6. */
export type ResolvedAddress = { address: string; family: number }

/** Gives all addresses of a name, A and AAAA; rejects when there are none. */
export type Resolve = (hostname: string) => Promise<ResolvedAddress[]>

/** A name has an address that may not be connected to. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError'
  readonly code = 'OUTHOOK_BLOCKED'

  constructor() {
    super(blockedMessage)
  }
}

/** Asks the system's resolver, hosts file included. */
export function resolveBySystem(hostname: string): Promise<ResolvedAddress[]> {
  return systemLookup(hostname, { all: true, verbatim: true })
}

/**
 * The addresses of a name, vetted: one that is not allowed refuses the whole name, since whoever
 * sets the records could have the next connection take that one. IPv4 comes first: not every place
 * where functions run has IPv6.
 */
export async function lookupVetted(
  hostname: string,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<ResolvedAddress[]> {
  const addresses = await resolve(hostname)
  if (!addresses.every(({ address }) => policy.allows(address))) {
    throw new BlockedAddressError()
  }
  return addresses.sort((a, b) => a.family - b.family)
}

/**
 * `lookup` for `net.connect` and `tls.connect`: the connection goes to an address that was
 * vetted for it, so a name that changes between check and connect reaches nothing else.
 */
export function vettedLookup(
  policy: AddressPolicy,
  resolve: Resolve = resolveBySystem,
): LookupFunction {
  return function lookup(hostname, options, callback): void {
    lookupVetted(hostname, policy, resolve).then((addresses) => {
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
