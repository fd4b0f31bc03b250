import type { Buffer } from 'node:buffer'
import { ResponseReader } from '../http1/response.ts'
import type { Connection, ConnectionUser } from '../http1/connection.ts'
import { closedEarly } from '../http1/error.ts'
import { firstValue, keptForMs, type ResponseHead } from '../http1/head.ts'
import type { Origin, WaitingRequest } from '../http1/origin.ts'
import { createPools, type PoolOptions } from '../http1/pools.ts'
import { postBytes } from '../http1/request.ts'
import { createDeadlines, type Deadlines, type Expiring } from '../http1/deadlines.ts'
import { fault, faultOf } from './fault.ts'
import { LimitedBody } from './limited_body.ts'
import {
  type Exchange,
  isSuccess,
  type PostRequest,
  successBodyMs,
  type Transport,
} from './transport.ts'

/**
 * POSTs over HTTP/1.1 connections that it opens to vetted addresses. A POST takes 20 µs of CPU; undici
 * took 43 µs (Deno 2.9, 128 at once, a body of 512 bytes). That is most of the CPU time of a delivery.
 * `now` is ms on a monotonic clock.
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
      const origin = pools.of(request.url, request.policy)
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

/** The longest time to keep an unused connection open; the peer may only shorten it. */
const longestKeepMs = 60_000
/** The peer may close the connection while a request is in flight. */
const keepMarginMs = 1_000

type ResponseLimits = Required<Pick<PostRequest, 'successBytes' | 'failureBytes' | 'keepHeaders'>>

type AttemptDeps = {
  origin: Origin
  keepMs: number
  deadlines: Deadlines
  now(): number
  resolve(exchange: Exchange): void
}

/**
 * One request in flight. It settles once; if it settles while it waits for a connection, it is never
 * sent. It stores only what the response needs: a thousand may be in flight, and their data costs
 * memory and garbage collection.
 */
class Attempt implements WaitingRequest, ConnectionUser, Expiring {
  readonly waitsSince: number
  deadline: number
  isSettled = false
  readonly #limits: ResponseLimits
  #pieces: readonly Buffer[]
  #connection: Connection | null = null
  #head: ResponseHead | null = null
  #kept: LimitedBody | null = null
  readonly #response = new ResponseReader({
    onHead: (head) => this.#begin(head),
    onBody: (piece) => this.#kept?.push(piece) ?? false,
  })

  constructor(request: PostRequest, pieces: readonly Buffer[], readonly deps: AttemptDeps) {
    const { timeoutMs, successBytes, failureBytes, keepHeaders = [] } = request
    this.#limits = { successBytes, failureBytes, keepHeaders }
    this.#pieces = pieces
    this.waitsSince = deps.now()
    this.deadline = this.waitsSince + timeoutMs
    deps.deadlines.watch(this)
  }

  /**
   * Sends the request, unless its deadline has passed. The timer is late if the process got no CPU time or
   * was stopped. Then the lease of the delivery may have ended.
   */
  onConnection(connection: Connection): void {
    if (this.deps.now() >= this.deadline) {
      this.deps.origin.release(connection, this.deps.keepMs)
      return this.#settle({ ...fault('timeout'), unsent: true })
    }
    this.#connection = connection
    connection.use(this, this.#pieces)
    this.#pieces = []
  }

  onRefusal(error: Error): void {
    this.#settle({ ...faultOf(error), unsent: true })
  }

  onBytes(chunk: Buffer): void {
    try {
      this.#response.read(chunk)
    } catch (error) {
      return this.#fail(error)
    }
    if (!this.#response.isDone) return
    this.#leave()
    this.#settleResponse(false)
  }

  onEnd(error: Error | null): void {
    if (error === null && this.#response.end()) this.#settleResponse(false)
    else this.#fail(error ?? closedEarly())
  }

  expire(): void {
    if (this.#head !== null) this.#settleResponse(true)
    else if (this.#connection === null) this.#settle({ ...fault('timeout'), unsent: true })
    else this.#settle(fault('timeout'))
    this.#connection?.close()
  }

  #begin(head: ResponseHead): void {
    const { successBytes, failureBytes } = this.#limits
    const isDelivered = isSuccess(head.status)
    this.#head = head
    this.#kept = new LimitedBody(isDelivered ? successBytes : failureBytes)
    if (isDelivered) this.deadline = Math.min(this.deadline, this.deps.now() + successBodyMs)
  }

  /** The status line decides the outcome of the attempt; a later error does not matter. */
  #fail(error: unknown): void {
    if (this.#head !== null) this.#settleResponse(true)
    else this.#settle(faultOf(error))
    this.#connection?.close()
  }

  #leave(): void {
    const connection = this.#connection
    if (connection === null || this.#head === null) return
    if (!this.#response.isReusable || !connection.isDrained) return connection.close()
    const said = keptForMs(this.#head)
    const keepMs = said === null ? this.deps.keepMs : Math.min(said - keepMarginMs, longestKeepMs)
    this.deps.origin.release(connection, keepMs)
  }

  #settleResponse(isBroken: boolean): void {
    const head = this.#head
    const kept = this.#kept
    if (head === null || kept === null) return
    this.#settle({
      kind: 'response',
      status: head.status,
      retryAfter: firstValue(head, 'retry-after'),
      ...this.#keptHeaders(head),
      body: kept.bytes(),
      cut: isBroken || kept.isCut,
    })
  }

  #keptHeaders(head: ResponseHead): { headers?: Record<string, string> } {
    const { keepHeaders } = this.#limits
    if (keepHeaders.length === 0) return {}
    const headers: Record<string, string> = {}
    for (const name of keepHeaders) {
      const value = firstValue(head, name)
      if (value !== null) headers[name] = value
    }
    return { headers }
  }

  #settle(exchange: Exchange): void {
    if (this.isSettled) return
    this.isSettled = true
    this.deps.deadlines.forget(this)
    this.deps.resolve(exchange)
  }
}
