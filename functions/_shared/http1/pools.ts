import type { AddressPolicy } from '../connect/address.ts'
import { type Connect, type ConnectTo, createConnector } from '../connect/connector.ts'
import type { Resolve } from '../connect/share_lookups.ts'
import type { Connection } from './connection.ts'
import type { Deadlines } from './deadlines.ts'
import { Origin } from './origin.ts'

export type PoolOptions = {
  /** The most open connections, in use or not; beyond it unused ones are closed. */
  maxSockets?: number
  /** The most connections of one endpoint. */
  maxPerOrigin?: number
  /** How long an unused connection stays open if its peer states no time, in ms. */
  keepAliveMs?: number
  /** This and the following options are those of `ConnectorOptions`. */
  resolve?: Resolve
  ca?: string
  proxyAuthorization?: string
}

/**
 * Vetted connections by endpoint and origin. Two endpoints never share one, because a receiver can write a
 * second response after its own, and the next request of the connection would get it. So the owner of one
 * endpoint could decide what is recorded for another one on the same host.
 */
export type Pools = {
  /**
   * The connections of an endpoint for a URL. If the policy is a new object, all connections of the previous
   * policy close when they become unused. So pass the same object while the policy is the same. `org` is the
   * organisation of the endpoint.
   */
  of(endpoint: string, url: URL, policy: AddressPolicy, org?: string): Origin
  /** How many endpoints have a connection or a request. */
  readonly size: number
  readonly keepAliveMs: number
  /** Closes all connections and fails their requests. */
  close(): void
}

/**
 * Many servers close earlier: after 2 s (gunicorn) or 5 s (Node, Apache, uvicorn, lighttpd). Then the
 * connection ends here too, and a request that crosses this end is sent again. A new TLS connection costs
 * about 15 times the CPU time of a POST, and each endpoint has connections of its own. An unused one takes
 * about 30 kB.
 */
const defaultKeepMs = 30_000

/** Creates pools that open connections on demand and, at the limit, close the longest unused ones. */
export function createPools(deadlines: Deadlines, options: PoolOptions = {}): Pools {
  const { maxSockets = 512, maxPerOrigin = 256, keepAliveMs = defaultKeepMs, ...connecting } =
    options
  const origins = new Map<string, Origin>()
  const retired = new Set<Origin>()
  const idle = new Set<Connection>()
  let inForce: { policy: AddressPolicy; connect: Connect } | null = null
  let sockets = 0

  function of(endpoint: string, url: URL, policy: AddressPolicy, org?: string): Origin {
    const { connect } = inForce?.policy === policy ? inForce : adopt(policy)
    const name = `${endpoint} ${originOf(url)}`
    const known = origins.get(name)
    if (known !== undefined) return known
    const origin = open(name, { ...addressOf(url), org }, connect)
    origins.set(name, origin)
    return origin
  }

  /** Retires all connections, because the new policy may not allow their addresses. */
  function adopt(policy: AddressPolicy): { connect: Connect } {
    const before = [...origins.values()]
    origins.clear()
    for (const origin of before) {
      origin.retire()
      if (!origin.isEmpty) retired.add(origin)
    }
    inForce = { policy, connect: createConnector({ policy, ...connecting }) }
    return inForce
  }

  function open(name: string, to: ConnectTo, connect: Connect): Origin {
    const origin = new Origin({
      to,
      connect,
      maxConnections: maxPerOrigin,
      keepMs: keepAliveMs,
      deadlines,
      idle,
      onCount: (change) => {
        sockets += change
        if (change === 1) makeRoom()
      },
      onEmpty: () => {
        retired.delete(origin)
        if (origins.get(name) === origin) origins.delete(name)
      },
    })
    return origin
  }

  function makeRoom(): void {
    for (const longestUnused of idle) {
      if (sockets <= maxSockets) return
      longestUnused.close()
    }
  }

  function close(): void {
    for (const origin of [...origins.values(), ...retired]) origin.close()
    origins.clear()
    retired.clear()
  }

  return {
    of,
    get size() {
      return origins.size + retired.size
    },
    keepAliveMs,
    close,
  }
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
