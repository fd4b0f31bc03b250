import { Pool } from 'undici'
import type { AddressPolicy } from './address.ts'
import { createConnector } from './connector.ts'
import type { Resolve } from './lookup.ts'

export type PoolOptions = {
  /** Open connections, in use or kept alive, beyond which unused ones are closed. */
  maxSockets?: number
  /**
   * Connections to one origin; as many as slots, so that no delivery waits for another endpoint's
   * on the same host.
   */
  maxPerOrigin?: number
  keepAliveMs?: number
  /** For one connection, as in `ConnectorOptions`. */
  timeoutMs?: number
  resolve?: Resolve
  ca?: string
  proxyAuthorization?: string
}

/** Connection pools by origin, all of them vetted. */
export type Pools = {
  /**
   * A policy other than the last one's closes every connection that is not in use: hand the same
   * one in while it holds.
   */
  of(url: URL, policy: AddressPolicy): Pool
  readonly sockets: number
  /** Ends what is still under way. */
  close(): Promise<void>
}

/** Opens pools as they are asked for, and closes the longest unused ones at the bound. */
export function createPools(options: PoolOptions = {}): Pools {
  const { maxSockets = 512, maxPerOrigin = 256 } = options
  const { timeoutMs = 10_000, keepAliveMs = 4_000, ...connecting } = options
  // In order of last use.
  const pools = new Map<string, Pool>()
  const closing = new Set<Pool>()
  let policyInForce: AddressPolicy | null = null
  let sockets = 0

  function poolOf(url: URL, policy: AddressPolicy): Pool {
    if (policy !== policyInForce) adopt(policy)
    const known = pools.get(url.origin)
    if (known !== undefined) {
      pools.delete(url.origin)
      pools.set(url.origin, known)
      return known
    }
    makeRoom()
    const pool = open(url.origin, policy)
    pools.set(url.origin, pool)
    return pool
  }

  /** A connection kept alive under another policy may lead where this one does not allow. */
  function adopt(policy: AddressPolicy): void {
    pools.forEach(retire)
    policyInForce = policy
  }

  function open(origin: string, policy: AddressPolicy): Pool {
    const pool = new Pool(origin, {
      connections: maxPerOrigin,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: 60_000,
      // The request's own deadline takes their place.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: createConnector({ policy, timeoutMs, ...connecting }),
    })
    pool.on('connect', () => {
      sockets++
      if (sockets > maxSockets) makeRoom()
    })
    pool.on('disconnect', () => void sockets--)
    return pool
  }

  function makeRoom(): void {
    let over = sockets - maxSockets
    for (const [origin, pool] of pools) {
      if (over < 0 && pools.size < maxSockets) return
      if (pool.stats.size > 0) continue
      over -= pool.stats.connected
      retire(pool, origin)
    }
  }

  function retire(pool: Pool, origin: string): void {
    pools.delete(origin)
    closing.add(pool)
    void pool.close().finally(() => closing.delete(pool))
  }

  /**
   * Does not wait for undici's own close, which never comes where a connection failed after it was
   * asked for.
   */
  async function close(): Promise<void> {
    pools.forEach(retire)
    await Promise.all([...closing].map((pool) => pool.destroy()))
  }

  return {
    of: poolOf,
    get sockets() {
      return sockets
    },
    close,
  }
}
