import type { AddressPolicy } from '../connect/address.ts'
import { type ConnectTo, createConnector } from '../connect/connector.ts'
import type { Resolve } from '../connect/lookup.ts'
import type { Deadlines } from './deadlines.ts'
import { Origin } from './origin.ts'

export type PoolOptions = {
  /** The most open connections, in use or not; beyond it unused ones are closed. */
  maxSockets?: number
  /**
   * The most connections to one origin: as many as a run has slots, so that endpoints on the same host
   * do not wait for each other.
   */
  maxPerOrigin?: number
  /** How long an unused connection stays open if its peer states no time, in ms. */
  keepAliveMs?: number
  /** The timeout of one connect, in ms. This and the following options are those of `ConnectorOptions`. */
  timeoutMs?: number
  resolve?: Resolve
  ca?: string
  proxyAuthorization?: string
}

/** Vetted connections by origin. */
export type Pools = {
  /**
   * The connections for a URL. If the policy is a new object, all connections of the previous policy
   * close when they become unused. So pass the same object while the policy is the same.
   */
  of(url: URL, policy: AddressPolicy): Origin
  readonly keepAliveMs: number
  /** Closes all connections and fails their requests. */
  close(): void
}

/** Creates pools that open connections on demand and, at the limit, close the least recently used. */
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

  /** Retires all connections, because the new policy may not allow their addresses. */
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
      maxConnections: maxPerOrigin,
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

/** Cached because the getters of a URL cost 1 µs. */
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
