import type { ConsumeMessage, GetMessage } from 'amqplib'
import type { Message } from '../message.ts'
import { withoutNul } from '../text.ts'

/** A message of a queue. Without an id it gets a random one, so it is not deduplicated. */
export function readDelivery(
  { content, properties }: ConsumeMessage | GetMessage,
  queue: string,
): Message {
  const headers: Record<string, unknown> = properties.headers ?? {}
  const id = text(properties.messageId) ?? text(headers['webhook-id']) ?? crypto.randomUUID()
  return {
    id,
    body: content,
    source: queue,
    eventType: text(headers['x-event-type']) ?? text(properties.type),
    correlationId: text(properties.correlationId) ?? text(headers['x-correlation-id']) ?? id,
    traceparent: text(headers.traceparent),
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? withoutNul(value.slice(0, 255)) : null
}
