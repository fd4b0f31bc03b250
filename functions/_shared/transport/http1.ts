import type { Buffer } from 'node:buffer'
import { AnswerReader } from '../http1/answer.ts'
import type { Connection, ConnectionUser } from '../http1/connection.ts'
import { closedEarly } from '../http1/error.ts'
import { type AnswerHead, firstValue, keptForMs } from '../http1/head.ts'
import type { Asker, Origin } from '../http1/origin.ts'
import { createPools, type PoolOptions } from '../http1/pools.ts'
import { postBytes } from '../http1/request.ts'
import { createDeadlines, type Deadlines, type Expiring } from '../http1/deadlines.ts'
import { fault, faultOf } from './fault.ts'
import { KeptBody } from './kept_body.ts'
import {
  type Exchange,
  isSuccess,
  type PostRequest,
  successBodyMs,
  type Transport,
} from './transport.ts'

/**
 * POSTs over HTTP/1.1 connections of its own, each to the very address that was vetted. undici did
 * the same for 43 µs of a core where this takes 20 (Deno 2.9, 128 at once, a body of 512 bytes), and
 * a delivery costs little besides.
 */
export function createHttp1Transport(options: PoolOptions = {}): Transport {
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
      origin.ask(
        new Attempt(request, pieces, { origin, keepMs: pools.keepAliveMs, deadlines, resolve }),
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

/** A peer that says how long it keeps a connection is taken at its word up to this. */
const longestKeepMs = 60_000
/** It may close the connection while a request is on its way. */
const keepMarginMs = 1_000

type AnswerLimits = Required<Pick<PostRequest, 'successBytes' | 'failureBytes' | 'keepHeaders'>>

type AttemptDeps = {
  origin: Origin
  keepMs: number
  deadlines: Deadlines
  resolve(exchange: Exchange): void
}

/**
 * One request on its way. It settles once; one that was still waiting for a connection is never
 * sent after that. Of the request it keeps what it needs for the answer: a thousand may be on their
 * way at once, and what they hold costs memory and, at each collection of garbage, CPU.
 */
class Attempt implements Asker, ConnectionUser, Expiring {
  readonly askedAt = performance.now()
  deadline: number
  isGone = false
  readonly #limits: AnswerLimits
  #pieces: readonly Buffer[]
  #connection: Connection | null = null
  #head: AnswerHead | null = null
  #kept: KeptBody | null = null
  readonly #answer = new AnswerReader({
    onHead: (head) => this.#begin(head),
    onBody: (piece) => this.#kept?.push(piece) ?? false,
  })

  constructor(request: PostRequest, pieces: readonly Buffer[], readonly deps: AttemptDeps) {
    const { timeoutMs, successBytes, failureBytes, keepHeaders = [] } = request
    this.#limits = { successBytes, failureBytes, keepHeaders }
    this.#pieces = pieces
    this.deadline = this.askedAt + timeoutMs
    deps.deadlines.watch(this)
  }

  onConnection(connection: Connection): void {
    this.#connection = connection
    connection.use(this, this.#pieces)
    this.#pieces = []
  }

  onRefusal(error: Error): void {
    this.#settle(faultOf(error))
  }

  onBytes(chunk: Buffer): void {
    try {
      this.#answer.read(chunk)
    } catch (error) {
      return this.#fail(error)
    }
    if (!this.#answer.isDone) return
    this.#leave()
    this.#settleAnswer(false)
  }

  onEnd(error: Error | null): void {
    if (error === null && this.#answer.end()) this.#settleAnswer(false)
    else this.#fail(error ?? closedEarly())
  }

  expire(): void {
    if (this.#head !== null) this.#settleAnswer(true)
    else this.#settle(fault('timeout'))
    this.#connection?.close()
  }

  #begin(head: AnswerHead): void {
    const { successBytes, failureBytes } = this.#limits
    const isDelivered = isSuccess(head.status)
    this.#head = head
    this.#kept = new KeptBody(isDelivered ? successBytes : failureBytes)
    if (isDelivered) this.deadline = Math.min(this.deadline, performance.now() + successBodyMs)
  }

  /** A status line alone says what came of the attempt; what follows may break. */
  #fail(error: unknown): void {
    if (this.#head !== null) this.#settleAnswer(true)
    else this.#settle(faultOf(error))
    this.#connection?.close()
  }

  #leave(): void {
    const connection = this.#connection
    if (connection === null || this.#head === null) return
    if (!this.#answer.leavesConnection || !connection.isDrained) return connection.close()
    const said = keptForMs(this.#head)
    const keepMs = said === null ? this.deps.keepMs : Math.min(said - keepMarginMs, longestKeepMs)
    this.deps.origin.release(connection, keepMs)
  }

  #settleAnswer(isBroken: boolean): void {
    const head = this.#head
    const kept = this.#kept
    if (head === null || kept === null) return
    this.#settle({
      kind: 'answer',
      status: head.status,
      retryAfter: firstValue(head, 'retry-after'),
      ...this.#keptHeaders(head),
      body: kept.bytes(),
      cut: isBroken || kept.isCut,
    })
  }

  #keptHeaders(head: AnswerHead): { headers?: Record<string, string> } {
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
    if (this.isGone) return
    this.isGone = true
    this.deps.deadlines.forget(this)
    this.deps.resolve(exchange)
  }
}
