import type { Buffer } from 'node:buffer'
import { ConnectTimeoutError } from '../connect/connector.ts'
import type { Connection, ConnectionUser } from '../http1/connection.ts'
import type { Deadlines, Expiring } from '../http1/deadlines.ts'
import { closedEarly } from '../http1/error.ts'
import { keptForMs } from '../http1/framing.ts'
import { firstValue, type ResponseHead } from '../http1/head.ts'
import type { Origin, WaitingRequest } from '../http1/origin.ts'
import { ResponseReader } from '../http1/response.ts'
import { codingOf, decode } from './decode.ts'
import { type Fault, fault, faultOf } from './fault.ts'
import { LimitedBody } from './limited_body.ts'
import { type Exchange, isSuccess, type PostRequest, successBodyMs } from './transport.ts'

/** The longest time to keep an unused connection open; the peer may only shorten it. */
const longestKeepMs = 60_000
/** The peer may close the connection while a request is in flight. */
const keepMarginMs = 1_000
/**
 * The same for a request that may not be sent again, if the peer states no time. The shortest common default of
 * servers is 2 s (gunicorn). Half a second is left for the way to the peer.
 */
const onceKeepMs = 1_500

/** The most stored bytes of a compressed body. Its decoded form has the limit of the request. */
const compressedBytes = 16_384

type ResponseLimits = Required<Pick<PostRequest, 'successBytes' | 'failureBytes' | 'keepHeaders'>>

type AttemptDeps = {
  origin: Origin
  keepMs: number
  deadlines: Deadlines
  now(): number
  resolve(exchange: Exchange | Promise<Exchange>): void
}

/**
 * One request in flight. It settles once; if it settles while it waits for a connection, it is never
 * sent. It stores only what the response needs: a thousand may be in flight, and their data costs
 * memory and garbage collection.
 *
 * If a connection that was used before ends without a byte of a response, the request is sent once more on a
 * fresh connection, before the same deadline. A fresh connection that ends so is a failure of the receiver.
 */
export class Attempt implements WaitingRequest, ConnectionUser, Expiring {
  waitsSince: number
  deadline: number
  readonly timeoutMs: number
  isSettled = false
  needsFresh = false
  readonly #limits: ResponseLimits
  readonly #isRepeatable: boolean
  /** Empty as soon as the request must not be sent again. */
  #pieces: readonly Buffer[]
  #connection: Connection | null = null
  #head: ResponseHead | null = null
  #kept: LimitedBody | null = null
  /** How the body is compressed; null: not at all. */
  #coding: string | null = null
  readonly #response = new ResponseReader({
    onHead: (head) => this.#begin(head),
    onBody: (piece) => this.#kept?.push(piece) ?? false,
  })

  constructor(request: PostRequest, pieces: readonly Buffer[], readonly deps: AttemptDeps) {
    const { timeoutMs, successBytes, failureBytes, keepHeaders = [] } = request
    this.#limits = { successBytes, failureBytes, keepHeaders }
    this.#isRepeatable = request.isRepeatable
    this.timeoutMs = timeoutMs
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
      const isFresh = !connection.wasUsed
      this.deps.origin.release(connection, this.deps.keepMs)
      return this.#settleUnconnected(
        isFresh ? faultOf(new ConnectTimeoutError()) : fault('timeout'),
      )
    }
    const maySendAgain = connection.wasUsed && this.#isRepeatable
    this.#connection = connection
    connection.use(this, this.#pieces)
    if (!maySendAgain) this.#pieces = []
  }

  onRefusal(error: Error): void {
    this.#settleUnconnected(faultOf(error))
  }

  onBytes(chunk: Buffer): void {
    this.#pieces = []
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
    if (this.#pieces.length > 0) this.#sendAgain()
    else if (error === null && this.#response.end()) this.#settleResponse(false)
    else this.#fail(error ?? closedEarly())
  }

  expire(): void {
    if (this.#head !== null) this.#settleResponse(true)
    else if (this.#connection !== null) this.#settle(fault('timeout'))
    else if (this.deps.origin.isConnecting) {
      this.#settleUnconnected(faultOf(new ConnectTimeoutError()))
    } else this.#settleUnconnected(fault('timeout'))
    this.#connection?.close()
  }

  /** Settles a request that has no connection. It was sent once if it needs a fresh one. */
  #settleUnconnected(exchange: Fault): void {
    this.#settle(this.needsFresh ? exchange : { ...exchange, unsent: true })
  }

  #sendAgain(): void {
    this.#connection = null
    this.needsFresh = true
    this.waitsSince = this.deps.now()
    this.deps.origin.request(this)
  }

  #begin(head: ResponseHead): void {
    this.#head = head
    this.#coding = codingOf(head)
    this.#kept = new LimitedBody(this.#coding === null ? this.#limitOf(head) : compressedBytes)
    if (isSuccess(head.status)) {
      this.deadline = Math.min(this.deadline, this.deps.now() + successBodyMs)
    }
  }

  #limitOf({ status }: ResponseHead): number {
    return isSuccess(status) ? this.#limits.successBytes : this.#limits.failureBytes
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
    this.deps.origin.release(connection, this.#keepMs(this.#head))
  }

  #keepMs(head: ResponseHead): number {
    const said = keptForMs(head)
    if (said !== null) return Math.min(said - keepMarginMs, longestKeepMs)
    return this.#isRepeatable ? this.deps.keepMs : Math.min(this.deps.keepMs, onceKeepMs)
  }

  #settleResponse(isBroken: boolean): void {
    const head = this.#head
    const kept = this.#kept
    if (head === null || kept === null) return
    const response = {
      kind: 'response' as const,
      status: head.status,
      retryAfter: firstValue(head, 'retry-after'),
      ...this.#keptHeaders(head),
    }
    const [body, cut] = [kept.bytes(), isBroken || kept.isCut]
    if (this.#coding === null || body.length === 0) return this.#settle({ ...response, body, cut })
    const decoding = decode(body, this.#coding, this.#limitOf(head))
    this.#settle(decoding.then((decoded) => ({
      ...response,
      body: decoded.body,
      cut: cut || decoded.cut,
    })))
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

  #settle(exchange: Exchange | Promise<Exchange>): void {
    if (this.isSettled) return
    this.isSettled = true
    this.#pieces = []
    this.deps.deadlines.forget(this)
    this.deps.resolve(this.needsFresh ? asResent(exchange) : exchange)
  }
}

async function asResent(exchange: Exchange | Promise<Exchange>): Promise<Exchange> {
  return { ...await exchange, resent: true }
}
