import { Buffer } from 'node:buffer'
import type { IHeaders, KafkaMessage } from 'kafkajs'
import type { Message } from '../message.ts'
import { withoutNul } from '../text.ts'

/** A record as a message. The id of a record that Outhook did not send is its position. */
export function readRecord(
  { value, headers = {}, offset }: KafkaMessage,
  topic: string,
  partition: number,
): Message {
  const id = textOf(headers, 'webhook-id') ?? `${topic}/${partition}/${offset}`
  return {
    id,
    body: value ?? Buffer.alloc(0),
    source: topic,
    eventType: textOf(headers, 'x-event-type'),
    correlationId: textOf(headers, 'x-correlation-id') ?? id,
    traceparent: textOf(headers, 'traceparent'),
  }
}

function textOf(headers: IHeaders, name: string): string | null {
  const value = headers[name]
  const first = Array.isArray(value) ? value[0] : value
  const text = withoutNul(first?.toString().slice(0, 255) ?? '')
  return text === '' ? null : text
}
