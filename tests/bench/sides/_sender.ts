/**
 * The sender that all peers share: undici below its request function, connections kept alive, and
 * per POST the same two HMACs and the same eleven headers that Outhook sends.
 */

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { type Dispatcher, Pool } from 'undici'

/** What a peer's job holds. */
export interface Job {
  id: string
  type: string
  /** `hang` for one that never answers. */
  endpoint: number | 'hang'
  body: string
}

export interface Sender {
  /** Resolves at a 2xx; rejects otherwise. */
  send(job: Job): Promise<void>
  close(): Promise<void>
}

/** Whether an answer came is all that a peer asks. */
class Answer implements Dispatcher.DispatchHandler {
  #status = 0
  constructor(readonly resolve: () => void, readonly reject: (error: Error) => void) {}
  onRequestStart(): void {}
  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status
  }
  onResponseData(): void {}
  onResponseEnd(): void {
    if (this.#status >= 200 && this.#status < 300) this.resolve()
    else this.reject(new Error(`answered ${this.#status}`))
  }
  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.reject(error)
  }
}

/** A peer gives up a POST after so long. */
export const TIMEOUT_MS = 10_000

/** POSTs to `origin`; `connections` bounds what is open at once. */
export function createSender(origin: string, secret: string, connections: number): Sender {
  const pool = new Pool(origin, { connections, headersTimeout: TIMEOUT_MS })
  const key = keyOf(secret)
  return {
    send: ({ id, type, endpoint, body }) => {
      const headers = headersOf(id, type, body, key)
      const path = `/${endpoint}`
      return new Promise((resolve, reject) => {
        pool.dispatch({ path, method: 'POST', headers, body }, new Answer(resolve, reject))
      })
    },
    close: () => pool.close(),
  }
}

/** The key of a `whsec_` secret, made once: under Node a digest then costs 3 µs instead of 16. */
export function keyOf(secret: string): KeyObject {
  return createSecretKey(secret.slice('whsec_'.length), 'base64')
}

/** Names and values in turn. */
export function headersOf(id: string, type: string, body: string, key: KeyObject): string[] {
  const at = String(Math.floor(Date.now() / 1000))
  const standard = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  const simple = createHmac('sha256', key).update(`${at}.${body}`).digest('hex')
  return [
    ...['content-type', 'application/json', 'user-agent', 'bench/1.0.0'],
    ...['webhook-id', id, 'idempotency-key', id],
    ...['webhook-timestamp', at, 'webhook-signature', `v1,${standard}`],
    ...['x-timestamp', at, 'x-signature', `sha256=${simple}`],
    ...['x-event-type', type, 'x-correlation-id', id, 'x-attempt', '1'],
  ]
}
