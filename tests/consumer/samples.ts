import { Buffer } from 'node:buffer'
import type { Message } from '../../consumer/message.ts'

/** A message as Outhook sends it; a test overrides what it is about. */
export function sampleMessage(over: Partial<Message> = {}): Message {
  return {
    id: '0198c0de-0000-7000-8000-000000000001',
    body: Buffer.from('{"id":"e-1","data":{"amount": 1.10}}'),
    source: 'orders',
    eventType: 'order.paid',
    correlationId: 'cart-7',
    traceparent: null,
    ...over,
  }
}
