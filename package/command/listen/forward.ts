import { Buffer } from 'node:buffer'
import { webhookHeaders } from '../../../functions/_shared/signing/headers.ts'
import { parseSecret, sign } from '../../../functions/_shared/signing/sign.ts'
import { bodyOf } from '../../../functions/_shared/senders/body.ts'
import type { FullEvent } from './payloads.ts'

/** What the receiver on this machine responded. */
export type Forwarded =
  | { kind: 'response'; status: number; durationMs: number; body: string }
  /** It took the request, but there is no whole response. */
  | { kind: 'failed'; durationMs: number; error: string }
  /** Nobody listens there: it has not seen the request. */
  | { kind: 'unreachable'; error: string }

/** What is sent where. */
export interface ForwardOptions {
  url: string
  /** `whsec_…`. */
  secret: string
  payload: 'envelope' | 'data'
  timeoutMs: number
  now: () => number
}

/** The most of a response that is read. */
const mostBytes = 64 * 1024

/** The errors of a connection that was never opened. */
const unopened = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']

/** POSTs an event as Outhook sends it to an endpoint: the same body, headers and signatures. */
export async function forward(
  event: FullEvent,
  { url, secret, payload, timeoutMs, now }: ForwardOptions,
): Promise<Forwarded> {
  const row = {
    type: event.type,
    correlation_id: event.correlationId ?? event.id,
    idempotency_key: event.idempotencyKey ?? event.id,
    traceparent: event.traceparent,
    body: event.body,
  }
  const body = Buffer.from(bodyOf({ payload }, event.id, row))
  const timestamp = Math.floor(now() / 1000)
  const signatures = sign(event.id, timestamp, body, [parseSecret(secret)])
  const headers = webhookHeaders({
    delivery: { event: event.id, failed_attempts: 0 },
    event: row,
    endpoint: { headers: {} },
    timestamp,
    signatures,
  })
  const startedAt = performance.now()
  const durationMs = (): number => Math.round(performance.now() - startedAt)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: pairs(headers),
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await readStart(response)
    return { kind: 'response', status: response.status, durationMs: durationMs(), body: text }
  } catch (error) {
    const { name, says, code } = causeOf(error)
    if (name === 'TimeoutError') {
      return {
        kind: 'failed',
        durationMs: durationMs(),
        error: `no response within ${timeoutMs / 1000} s`,
      }
    }
    return unopened.includes(code)
      ? { kind: 'unreachable', error: code }
      : { kind: 'failed', durationMs: durationMs(), error: says }
  }
}

function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((name, at) => at % 2 === 0 ? [[name, list[at + 1] ?? '']] : [])
}

/** The first part of a response, so that an endless one ends too. */
async function readStart(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  const reader = response.body?.getReader()
  while (reader !== undefined && bytes < mostBytes) {
    const { value, done } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    text += decoder.decode(value, { stream: true })
  }
  await reader?.cancel()
  return text
}

/** fetch() says only that it failed: the reason is in its cause, or in several of one. */
function causeOf(error: unknown): { name: string; says: string; code: string } {
  if (!(error instanceof Error)) return { name: '', says: String(error), code: '' }
  const { cause } = error
  const [inner] = cause instanceof AggregateError ? cause.errors : [cause]
  const deepest = inner instanceof Error ? inner : error
  const code = 'code' in deepest && typeof deepest.code === 'string' ? deepest.code : ''
  return { name: error.name, says: code || deepest.message, code }
}
