import type { Buffer } from 'node:buffer'
import { keyHeader, orgHeader } from '../../functions/_shared/senders/broker/record.ts'
import { findMembers } from '../../functions/api/raw_json.ts'
import { withoutNul } from '../text.ts'

/** An event as outbox.take_events() takes it. */
export type CarriedEvent = {
  /** Its id in the database that published it. */
  id: string
  type: string
  org_id: string
  /** Its payload as it was published. */
  body: string
  partition_key: string | null
  correlation_id: string | null
  idempotency_key: string | null
  traceparent: string | null
}

/** Returns a header, or null. */
export type HeaderOf = (name: string) => string | null

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The event in a message of an endpoint of Outhook; a text says why there is none. */
export function readCarried(headerOf: HeaderOf, body: Buffer): CarriedEvent | string {
  const id = headerOf('webhook-id')
  const type = headerOf('x-event-type')
  const org = headerOf(orgHeader)
  const missing = [['webhook-id', id], ['x-event-type', type], [orgHeader, org]]
    .find(([, value]) => value === null)
  if (id === null || type === null || org === null) {
    return `The message has no header ${missing?.[0]}: it is not from an endpoint of Outhook`
  }
  const payload = readPayload(id, body)
  if (payload === null) return 'The message is not JSON'
  const key = headerOf(keyHeader)
  return {
    id,
    type,
    org_id: org,
    body: payload,
    partition_key: key === null ? null : decoded(key),
    correlation_id: headerOf('x-correlation-id'),
    idempotency_key: headerOf('idempotency-key'),
    traceparent: headerOf('traceparent'),
  }
}

/** The header of a message of RabbitMQ or Kafka, whose value may be anything. */
export function headerText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value
  const text = typeof first === 'string' || first instanceof Uint8Array ? first.toString() : null
  return text === null ? null : withoutNul(text)
}

/** The `data` of the envelope byte for byte, or the body if the endpoint sends it without one. */
function readPayload(id: string, body: Buffer): string | null {
  try {
    const text = decoder.decode(body)
    const json: unknown = JSON.parse(text)
    const isEnvelope = typeof json === 'object' && json !== null && 'id' in json &&
      json.id === id && 'eventType' in json && 'data' in json
    const span = isEnvelope ? findMembers(text).get('data') : undefined
    return span === undefined ? text : text.slice(span.start, span.end)
  } catch {
    return null
  }
}

function decoded(text: string): string {
  try {
    return withoutNul(decodeURIComponent(text))
  } catch {
    return text
  }
}
