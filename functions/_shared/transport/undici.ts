import type { Dispatcher } from 'undici'
import { createPools, type PoolOptions } from '../connect/pools.ts'
import { createDeadlines, type Deadlines, type Expiring } from './deadlines.ts'
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
 * POSTs through undici, whose `lookup` lets each connection go to the very address that was vetted.
 */
export function createUndiciTransport(options: PoolOptions = {}): Transport {
  const pools = createPools(options)
  const deadlines = createDeadlines()

  function post(request: PostRequest): Promise<Exchange> {
    return new Promise((resolve) => {
      const { url, policy, headers, body } = request
      const attempt = new Attempt(request, resolve, deadlines)
      try {
        pools.of(url, policy).dispatch({
          path: url.pathname + url.search,
          method: 'POST',
          headers,
          body,
        }, attempt)
      } catch (error) {
        attempt.onResponseError(null, error)
      }
    })
  }

  async function close(): Promise<void> {
    await pools.close()
    deadlines.close()
  }

  return { post, close }
}

/**
 * One request on its way, as undici's handler: below its request and fetch functions, which cost a
 * stream each. It settles once; what undici reports after that is ignored, and a request that was
 * still waiting for a connection is never sent.
 */
class Attempt implements Dispatcher.DispatchHandler, Expiring {
  deadline: number
  #settled = false
  #status = 0
  #retryAfter: string | null = null
  #headers: Record<string, string> | null = null
  #kept: KeptBody | null = null
  #controller: Dispatcher.DispatchController | null = null

  constructor(
    readonly request: PostRequest,
    readonly resolve: (exchange: Exchange) => void,
    readonly deadlines: Deadlines,
  ) {
    this.deadline = performance.now() + request.timeoutMs
    deadlines.watch(this)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) return controller.abort(new Error('The deadline has passed'))
    this.#controller = controller
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // An interim answer; the real one follows.
    if (status < 200) return
    this.#status = status
    const { successBytes, failureBytes } = this.request
    this.#kept = new KeptBody(isSuccess(status) ? successBytes : failureBytes)
    this.#retryAfter = oneOf(headers['retry-after'])
    this.#keepHeaders(headers)
    if (!isSuccess(status)) return
    this.deadline = Math.min(this.deadline, performance.now() + successBodyMs)
  }

  #keepHeaders(headers: Record<string, string | string[] | undefined>): void {
    const { keepHeaders } = this.request
    if (keepHeaders === undefined) return
    this.#headers = {}
    for (const name of keepHeaders) {
      const value = oneOf(headers[name])
      if (value !== null) this.#headers[name] = value
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#settled || this.#kept === null || this.#kept.push(chunk)) return
    this.#answer(true)
    this.#abort()
  }

  onResponseEnd(): void {
    this.#answer(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    if (this.#status > 0) this.#answer(true)
    else this.#settle(faultOf(error))
  }

  expire(): void {
    if (this.#status > 0) this.#answer(true)
    else this.#settle(fault('timeout'))
    this.#abort()
  }

  #abort(): void {
    this.#controller?.abort(new Error('The attempt has ended'))
  }

  #answer(isBroken: boolean): void {
    const kept = this.#kept ?? new KeptBody(0)
    this.#settle({
      kind: 'answer',
      status: this.#status,
      retryAfter: this.#retryAfter,
      ...(this.#headers === null ? {} : { headers: this.#headers }),
      body: kept.bytes(),
      cut: isBroken || kept.isCut,
    })
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return
    this.#settled = true
    this.deadlines.forget(this)
    this.resolve(exchange)
  }
}

function oneOf(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null
}
