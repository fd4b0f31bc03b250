import type { Buffer } from 'node:buffer'
import { createDeadlines } from '../http1/deadlines.ts'
import { createPools, type PoolOptions } from '../http1/pools.ts'
import { postBytes } from '../http1/request.ts'
import { Attempt } from './attempt.ts'
import { faultOf } from './fault.ts'
import type { Exchange, PostRequest, Transport } from './transport.ts'

/**
 * POSTs over HTTP/1.1 connections that it opens to vetted addresses. It is a client of our own, because no
 * library can keep the connections of endpoints apart and say whether a request may be sent again. Sending is
 * most of the CPU time of a delivery, and undici takes 1.5 times as much. docs/performance.md has all reasons,
 * the figures, and what would make us drop it. `now` is ms on a monotonic clock.
 */
export function createHttp1Transport(
  options: PoolOptions = {},
  now: () => number = () => performance.now(),
): Transport {
  const deadlines = createDeadlines()
  const pools = createPools(deadlines, options)

  function post(request: PostRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      let pieces: Buffer[]
      try {
        pieces = postBytes(request)
      } catch (error) {
        return resolve(faultOf(error))
      }
      const origin = pools.of(request.endpoint, request.url, request.policy, request.org)
      origin.request(
        new Attempt(request, pieces, {
          origin,
          keepMs: pools.keepAliveMs,
          deadlines,
          now,
          resolve,
        }),
      )
    })
  }

  function close(): Promise<void> {
    pools.close()
    deadlines.close()
    return Promise.resolve()
  }

  return { post, close }
}
