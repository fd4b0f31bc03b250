import type { Exchange } from '../../../supabase/local/http/exchange.ts'
import type { Received } from '../../../supabase/local/http/request.ts'
import {
  type HttpServer,
  serveHttp,
  type ServeOptions,
} from '../../../supabase/local/http/serve.ts'
import { patienceMs } from '../../_support/patience.ts'
import { type Behaviour, behaviours } from './behaviours.ts'

export type Receiver = HttpServer & {
  /** All requests so far, in the order of their last byte. */
  received: Received[]
  /** Resolves once `count` requests have come; rejects after `ms`. */
  waitFor(count: number, ms?: number): Promise<Received[]>
}

export type ReceiverOptions = ServeOptions & {
  /** Behaviours of the test's own, by the first word of the path; they go before `behaviours.ts`. */
  also?: Record<string, Behaviour>
}

/** Starts a webhook receiver on the loopback address that behaves as each path asks: see `behaviours.ts`. */
export function startReceiver({ also = {}, ...options }: ReceiverOptions = {}): Receiver {
  const received: Received[] = []
  const seen = new Map<string, number>()
  const waiting = new Set<() => void>()
  const known = { ...behaviours, ...also }

  async function behave(exchange: Exchange): Promise<void> {
    const { request } = exchange
    const { pathname, searchParams: query } = new URL(request.path, 'http://receiver')
    const [name = '', ...words] = pathname.split('/').slice(1)
    const key = `${pathname} ${request.headers['webhook-id']}`
    const seenBefore = seen.get(key) ?? 0
    seen.set(key, seenBefore + 1)
    received.push(request)
    for (const check of waiting) check()
    const behaviour = Object.hasOwn(known, name) ? known[name] : undefined
    await (behaviour === undefined
      ? exchange.answer(200, 'ok')
      : behaviour({ ...exchange, words, query, seenBefore }))
  }

  function waitFor(count: number, ms = patienceMs): Promise<Received[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(check)
        reject(new Error(`${received.length} of ${count} requests came within ${ms} ms`))
      }, ms)

      function check(): void {
        if (received.length < count) return
        clearTimeout(timer)
        waiting.delete(check)
        resolve(received)
      }

      waiting.add(check)
      check()
    })
  }

  return { ...serveHttp(options, behave), received, waitFor }
}
