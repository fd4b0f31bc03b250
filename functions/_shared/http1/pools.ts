import type { AddressPolicy } from '../connect/address.ts'
import { type ConnectTo, createConnector } from '../connect/connector.ts'
import type { Resolve } from '../connect/lookup.ts'
import type { Deadlines } from './deadlines.ts'
import { Origin } from './origin.ts'

export type PoolOptions = {
  /** Open connections, in use or kept alive, beyond which unused ones are closed. */
  maxSockets?: number
  /**
   * Connections to one origin; as many as slots, so that no delivery waits for another endpoint's
   * on the same host.
   */
  maxPerOrigin?: number
  /** How long an unused connection is kept when its peer does not say how long it keeps it. */
  keepAliveMs?: number
  /** For one connection, as in `ConnectorOptions`. */
  timeoutMs?: number
  resolve?: Resolve
  ca?: string
  proxyAuthorization?: string
}

/** Connections by origin, all of them vetted. */
export type Pools = {
  /**
   * The connections that lead to a URL. A policy other than the last one's closes every connection
   * as soon as it is not in use: hand the same one in while it holds.
   */
  of(url: URL, policy: AddressPolicy): Origin
  readonly keepAliveMs: number
  /** Ends what is still under way. */
  close(): void
}

/** Opens connections as they are asked for, and closes the longest unused ones at the bound. */
export function createPools(deadlines: Deadlines, options: PoolOptions = {}): Pools {
  const { maxSockets = 512, maxPerOrigin = 256, keepAliveMs = 4_000, ...connecting } = options
  // In order of last use.
  const origins = new Map<string, Origin>()
  const retired = new Set<Origin>()
  let policyInForce: AddressPolicy | null = null
  let sockets = 0

  function of(url: URL, policy: AddressPolicy): Origin {
    if (policy !== policyInForce) adopt(policy)
    const name = originOf(url)
    const known = origins.get(name)
    if (known === undefined) return open(name, url, policy)
    origins.delete(name)
    origins.set(name, known)
    return known
  }

  /** A connection kept alive under another policy may lead where this one does not allow. */
  function adopt(policy: AddressPolicy): void {
    for (const origin of origins.values()) {
      origin.retire()
      if (!origin.isEmpty) retired.add(origin)
    }
    origins.clear()
    policyInForce = policy
  }

  function open(name: string, url: URL, policy: AddressPolicy): Origin {
    const origin = new Origin({
      to: addressOf(url),
      connect: createConnector({ policy, timeoutMs: 10_000, ...connecting }),
      most: maxPerOrigin,
      keepMs: keepAliveMs,
      deadlines,
      onCount,
    })
    origins.set(name, origin)
    return origin

    function onCount(change: 1 | -1): void {
      sockets += change
      if (change === 1) return makeRoom()
      if (!origin.isEmpty) return
      retired.delete(origin)
      if (origins.get(name) === origin) origins.delete(name)
    }
  }

  function makeRoom(): void {
    if (sockets <= maxSockets) return
    let over = sockets - maxSockets
    for (const origin of [...origins.values()]) {
      if (over <= 0) return
      over -= origin.closeFree()
    }
  }

  function close(): void {
    for (const origin of [...origins.values(), ...retired]) origin.close()
    origins.clear()
    retired.clear()
  }

  return { of, keepAliveMs, close }
}

/** A URL is asked for again and again, and its getters cost 1 µs in all. */
const names = new WeakMap<URL, string>()

function originOf(url: URL): string {
  const known = names.get(url)
  if (known !== undefined) return known
  const name = url.origin
  names.set(url, name)
  return name
}

function addressOf({ hostname, port, protocol }: URL): ConnectTo {
  const tls = protocol === 'https:'
  return {
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port: Number(port) || (tls ? 443 : 80),
    tls,
  }
}
