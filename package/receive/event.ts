import { WebhookError } from './errors.ts'
import type { ReadHeader } from './headers.ts'
import type { Signed } from './verify.ts'

/** Event types with the type of their data, such as `{ 'order.paid': { id: number } }`. */
export type Catalogue = object

/** One webhook. `eventType` tells the members of a union apart. */
export interface WebhookEvent<Type extends string = string, Data = unknown> {
  /** The id of the event: the same in every attempt. */
  id: string
  eventType: Type
  data: Data
  /** When the event was published, in ISO 8601; null if the endpoint gets only the data. */
  createdAt: string | null
  correlationId: string | null
  /** The idempotency key of the publisher, or the id of the event. Not covered by the signature. */
  idempotencyKey: string | null
  /** 1 for the first attempt. Not covered by the signature. */
  attempt: number
  /** The time of signing. */
  signedAt: Date
  /** The W3C trace context, if there is one. Not covered by the signature. */
  traceparent: string | null
}

/** The union of the events of a catalogue. */
export type EventOf<C extends Catalogue> = {
  [T in keyof C & string]: WebhookEvent<T, C[T]>
}[keyof C & string]

/** What the body contains: the event with its id and type, or only its data (`p_payload`). */
export type PayloadForm = 'envelope' | 'data'

/** Reads the event of a verified request; throws a WebhookError if the body is not one. */
export function readEvent(
  read: ReadHeader,
  body: Uint8Array,
  { id, timestamp }: Signed,
  payload: PayloadForm,
): WebhookEvent {
  const value = parseJson(body)
  const common = {
    idempotencyKey: read('idempotency-key'),
    attempt: Number(/^[0-9]{1,9}$/.exec(read('x-attempt') ?? '')?.[0] ?? 1),
    signedAt: new Date(timestamp * 1000),
    traceparent: read('traceparent'),
  }
  if (payload === 'data') {
    if (id === null) throw invalid('has no id that the signature covers')
    const eventType = read('x-event-type')
    if (eventType === null) throw new WebhookError('missing_header', 'x-event-type is missing')
    return {
      id,
      eventType,
      data: value,
      createdAt: null,
      correlationId: read('x-correlation-id'),
      ...common,
    }
  }
  if (!isObject(value) || !('data' in value)) throw invalid('is not an event')
  const { eventType, createdAt, correlationId, data } = value
  if (typeof value.id !== 'string' || typeof eventType !== 'string') {
    throw invalid('has no id or no eventType')
  }
  if (id !== null && id !== value.id) throw invalid('has another id than the header webhook-id')
  return {
    id: value.id,
    eventType,
    data,
    createdAt: textOrNull(createdAt),
    correlationId: textOrNull(correlationId),
    ...common,
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(body))
  } catch {
    throw invalid('is not JSON')
  }
}

function invalid(what: string): WebhookError {
  return new WebhookError('invalid_body', `The body ${what}`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
