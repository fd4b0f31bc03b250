import { type Clock, sleep } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { encodeSpans, type EndedSpan } from './otlp.ts'
import type { Attributes } from './tracer.ts'

export type ExporterOptions = {
  /** The collector's URL, with `/v1/traces`. */
  url: string
  headers: Record<string, string>
  timeoutMs: number
  resource: Attributes
  clock: Clock
  log: Log
  fetch: typeof globalThis.fetch
  /** Keeps the process alive until the promise settles. */
  keepAlive(promise: Promise<void>): void
}

/** Sends spans in batches. */
export type Exporter = {
  add(span: EndedSpan): void
  /** Sends all spans; it never rejects. */
  flush(): Promise<void>
}

/** The result of a request; a temporary problem is retried once. */
type Sent = { problem: string | null; isPassing: boolean }

const batchSize = 512
const mostWaiting = 8192
const gatherMs = 2_000
/** The pause before the retry; after it the batch and all waiting spans are dropped. */
const pauseMs = 500

/**
 * Creates an exporter that never slows down its caller: spans beyond the queue, or without a
 * collector, are dropped, counted and logged. URL and headers are not logged, because they may contain
 * a key.
 */
export function createExporter(options: ExporterOptions): Exporter {
  const { url, headers, timeoutMs, resource, clock, log, fetch, keepAlive } = options
  let waiting: EndedSpan[] = []
  let overflown = 0
  let endWait: (() => void) | null = null
  let sending: Promise<void> | null = null

  function add(span: EndedSpan): void {
    if (waiting.length >= mostWaiting) {
      overflown++
      return
    }
    waiting.push(span)
    if (waiting.length >= batchSize) void flush()
    else schedule()
  }

  function schedule(): void {
    if (endWait !== null || sending !== null) return
    keepAlive(
      new Promise<void>((resolve) => {
        const cancel = clock.after(gatherMs, () => void flush())
        endWait = () => {
          cancel()
          resolve()
        }
      }),
    )
  }

  function flush(): Promise<void> {
    endWait?.()
    endWait = null
    if (sending === null) {
      sending = sendAll().finally(() => sending = null)
      keepAlive(sending)
    }
    return sending
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchSize)
      waiting = waiting.slice(batchSize)
      const { problem, isPassing } = await send(encodeSpans(resource, batch))
      if (problem === null) continue
      // Waiting spans would fail too, and a run that ends waits for this call.
      const lost = isPassing ? waiting : []
      if (isPassing) waiting = []
      report(batch.length + lost.length, problem)
    }
    if (overflown > 0) report(overflown, 'more spans than the collector accepts')
    overflown = 0
  }

  async function send(body: string): Promise<Sent> {
    const first = await post(body)
    if (!first.isPassing) return first
    await sleep(clock, pauseMs)
    return await post(body)
  }

  async function post(body: string): Promise<Sent> {
    const limit = new AbortController()
    const cancel = clock.after(timeoutMs, () => limit.abort())
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        signal: limit.signal,
      })
      await response.body?.cancel()
      const { status } = response
      // https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes
      const isPassing = [429, 502, 503, 504].includes(status)
      return { problem: response.ok ? null : `the collector responded with ${status}`, isPassing }
    } catch {
      // The error's text may contain the URL.
      return { problem: 'the collector cannot be reached', isPassing: true }
    } finally {
      cancel()
    }
  }

  function report(spans: number, error: string): void {
    log('warn', 'spans dropped', { spans, error })
  }

  return { add, flush }
}
