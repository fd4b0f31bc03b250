import { Buffer } from 'node:buffer'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { messageOf } from '../../../functions/_shared/base/errors.ts'
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
  const connection = { isOpen: false }
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    const response = await post({ url, headers, body, signal: timeout }, connection)
    const text = await readStart(response)
    return {
      kind: 'response',
      status: response.statusCode ?? 0,
      durationMs: durationMs(),
      body: text,
    }
  } catch (error) {
    const says = timeout.aborted ? `no response within ${timeoutMs / 1000} s` : reasonOf(error)
    return connection.isOpen
      ? { kind: 'failed', durationMs: durationMs(), error: says }
      : { kind: 'unreachable', error: says }
  }
}

interface Posted {
  url: string
  /** Names and values alternate. */
  headers: readonly string[]
  body: Buffer
  signal: AbortSignal
}

/** Sends a request with these headers and no others, and notes when the connection is open. */
function post(
  { url, headers, body, signal }: Posted,
  connection: { isOpen: boolean },
): Promise<IncomingMessage> {
  const send = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    // Without an agent, each request has a connection of its own, which has never been open before.
    const sent = send(url, { method: 'POST', agent: false, signal })
    for (const [at, name] of headers.entries()) {
      if (at % 2 === 0) sent.setHeader(name, headers[at + 1] ?? '')
    }
    sent.on('socket', (socket) => {
      socket.once('connect', () => {
        connection.isOpen = true
      })
    })
    sent.on('response', resolve)
    sent.on('error', reject)
    sent.end(body)
  })
}

/** The first part of a response, so that an endless one ends too. */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  // To leave the loop closes the connection.
  for await (const chunk of response) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= mostBytes) break
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, mostBytes))
}

/** The code of an error, or else its text. A name with several addresses has an error for each. */
function reasonOf(error: unknown): string {
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const hasCode = first instanceof Error && 'code' in first && typeof first.code === 'string'
  return hasCode ? `${first.code}` : messageOf(first)
}
