import { Buffer } from 'node:buffer'
import { z } from 'zod'
import { headerValue } from '../functions/_shared/signing/headers.ts'
import { findMembers } from '../functions/api/raw_json.ts'
import type { DeadMessage } from './message.ts'

/** Encodings of an `original_message` that is not JSON. */
const encodings = ['text', 'base64'] as const

/**
 * The JSON text of a dead letter: original_topic, original_message, error, retry_count, failed_at and
 * correlation_id. A JSON message is included byte for byte; for any other one `original_encoding` says
 * how it is encoded.
 */
export function writeDeadLetter(
  { message, error, retryCount }: DeadMessage,
  failedAt: Date,
): Buffer {
  const { text, encoding } = readBody(message.body)
  const head = JSON.stringify({ original_topic: message.source }).slice(0, -1)
  const tail = JSON.stringify({
    ...encoding === null ? {} : { original_encoding: encoding },
    error,
    retry_count: retryCount,
    failed_at: failedAt.toISOString(),
    correlation_id: message.correlationId,
  }).slice(1)
  const original = encoding === null ? text : JSON.stringify(text)
  return Buffer.from(`${head},"original_message":${original},${tail}`, 'utf8')
}

/** The most characters of an error in a short letter. */
const shortError = 1_000

/**
 * The JSON text of a dead letter without the message, which the broker refuses as too large: `place` says
 * where the message is, as topic/partition/offset. It cannot be replayed.
 */
export function writeShortLetter(
  { message, error, retryCount }: DeadMessage,
  failedAt: Date,
  place: string,
): Buffer {
  return Buffer.from(
    JSON.stringify({
      original_topic: message.source,
      original_message: place,
      original_encoding: 'place',
      error: error.slice(0, shortError),
      retry_count: retryCount,
      failed_at: failedAt.toISOString(),
      correlation_id: message.correlationId,
    }),
    'utf8',
  )
}

/** A dead letter for replay: its original target, and its bytes. */
export type Original = {
  topic: string
  body: Buffer
  /** Only in dead letters of Outhook's own endpoints: their headers are not those of the message. */
  event: OriginalEvent | null
}

export type OriginalEvent = {
  id: string
  endpointId: string
  type: string
  correlationId: string
  /** The publisher's; null: it set none. */
  idempotencyKey: string | null
  /** For RabbitMQ; null: the default exchange. */
  exchange: string | null
  /** For Kafka. */
  key: string | null
}

const letterForm = z.object({
  original_topic: z.string().min(1),
  original_message: z.unknown(),
  original_encoding: z.enum(encodings).optional(),
})

const endpointForm = z.object({
  event_id: z.string(),
  endpoint_id: z.string(),
  event_type: z.string(),
  correlation_id: z.string(),
  idempotency_key: z.string().nullable().default(null),
  original_exchange: z.string().nullable().default(null),
  original_key: z.string().nullable().default(null),
}).transform((letter) => ({
  id: letter.event_id,
  endpointId: letter.endpoint_id,
  type: letter.event_type,
  correlationId: letter.correlation_id,
  idempotencyKey: letter.idempotency_key,
  exchange: letter.original_exchange,
  key: letter.original_key,
}))

/** Parses a dead letter; null if it is not one. */
export function readDeadLetter(body: Uint8Array): Original | null {
  try {
    const text = decoder.decode(body)
    const json: unknown = JSON.parse(text)
    const letter = letterForm.parse(json)
    const span = findMembers(text).get('original_message')
    if (span === undefined) return null
    return {
      topic: letter.original_topic,
      event: endpointForm.safeParse(json).data ?? null,
      body: letter.original_encoding === undefined
        ? Buffer.from(text.slice(span.start, span.end), 'utf8')
        : Buffer.from(
          z.string().parse(letter.original_message),
          letter.original_encoding === 'base64' ? 'base64' : 'utf8',
        ),
    }
  } catch {
    return null
  }
}

/** The headers that identify an event, as its delivery has them: see webhookHeaders(). */
export function eventHeaders(
  { id, type, correlationId, idempotencyKey }: OriginalEvent,
): Record<string, string> {
  return {
    'webhook-id': id,
    'idempotency-key': headerValue(idempotencyKey ?? id),
    'x-event-type': headerValue(type),
    'x-correlation-id': headerValue(correlationId),
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function readBody(body: Uint8Array): { text: string; encoding: 'text' | 'base64' | null } {
  let text: string
  try {
    text = decoder.decode(body)
  } catch {
    return { text: Buffer.from(body).toString('base64'), encoding: 'base64' }
  }
  return { text, encoding: isJson(text) ? null : 'text' }
}

/** Whether a message can be passed to a function that takes jsonb. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
