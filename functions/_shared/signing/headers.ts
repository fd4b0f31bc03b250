import type { Delivery, Endpoint, EventRow } from '../contract/contract.ts'
import type { Signatures } from './sign.ts'
import { version } from '../base/version.ts'

/** Names and values alternate. */
export type HeaderList = string[]

/**
 * Names that custom headers may not have; `webhook-*` means all names with that prefix. Each attempt
 * sets some of them; the others control the connection, and forging them could split a request or
 * reach another host. outbox.reserved_headers() has the same list.
 */
export const reservedHeaders: readonly string[] = [
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'idempotency-key',
  'keep-alive',
  'proxy-*',
  'sec-*',
  'te',
  'traceparent',
  'tracestate',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'webhook-*',
  'x-attempt',
  'x-correlation-id',
  'x-event-type',
  'x-outhook-*',
  'x-signature',
  'x-timestamp',
]

const reserved = new Set(reservedHeaders)
const reservedPrefixes = reservedHeaders.filter((name) => name.endsWith('*')).map((name) =>
  name.slice(0, -1)
)

/** Receivers refuse longer ones. */
const longestName = 100

/**
 * The problem of a custom header, or null; checked before each send. outbox.header_problem checks the
 * same when the endpoint is saved.
 */
export function customHeaderProblem(name: string, value: string): string | null {
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) {
    return `Header name ${JSON.stringify(name)} has characters that HTTP does not allow`
  }
  if (name.length > longestName) return `A header name has more than ${longestName} characters`
  if (reserved.has(lower) || reservedPrefixes.some((prefix) => lower.startsWith(prefix))) {
    return `Header ${lower} is reserved: remove it from the endpoint's headers`
  }
  if (value === '' || !/^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/.test(value)) {
    // The value may be a credential, so the message leaves it out.
    return `Header ${lower} has an empty value, or characters that are not visible ASCII`
  }
  return null
}

/** The problem of an endpoint's custom headers, or null. */
export function headersProblem({ headers }: Endpoint): string | null {
  for (const name in headers) {
    const problem = customHeaderProblem(name, headers[name] ?? '')
    if (problem !== null) return problem
  }
  return null
}

/** A valid header value: characters that are not visible ASCII are percent-encoded as UTF-8. */
export function headerValue(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text
  return text.replace(/[^\x21-\x7e]/gu, (char) => {
    return /\p{Surrogate}/u.test(char) ? '%EF%BF%BD' : encodeURIComponent(char)
  })
}

/** The data for the headers of one attempt. */
export type WebhookAttempt = {
  delivery: Pick<Delivery, 'event' | 'failed_attempts'>
  event: Pick<EventRow, 'type' | 'correlation_id' | 'idempotency_key' | 'traceparent'>
  endpoint: Pick<Endpoint, 'headers'>
  /** Unix seconds, as signed. */
  timestamp: number
  /** null: unsigned, for brokers. */
  signatures: Signatures | null
}

/** All headers of one attempt, custom ones first. */
export function webhookHeaders(
  { delivery, event, endpoint, timestamp, signatures }: WebhookAttempt,
): HeaderList {
  const headers: HeaderList = []
  for (const name in endpoint.headers) headers.push(name, endpoint.headers[name] ?? '')
  headers.push(
    'content-type',
    'application/json',
    'user-agent',
    `Outhook/${version}`,
    'webhook-id',
    delivery.event,
    'idempotency-key',
    headerValue(event.idempotency_key),
    'webhook-timestamp',
    String(timestamp),
  )
  if (signatures !== null) {
    headers.push('webhook-signature', signatures.standard, 'x-timestamp', String(timestamp))
  }
  headers.push(
    'x-event-type',
    headerValue(event.type),
    'x-correlation-id',
    headerValue(event.correlation_id),
    'x-attempt',
    String(delivery.failed_attempts + 1),
  )
  if (signatures !== null && signatures.simple !== null) {
    headers.push('x-signature', signatures.simple)
  }
  if (event.traceparent !== null) headers.push('traceparent', headerValue(event.traceparent))
  return headers
}
