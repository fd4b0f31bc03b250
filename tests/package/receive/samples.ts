import { Buffer } from 'node:buffer'
import { parseSecret, sign } from '../../../functions/_shared/signing/sign.ts'

export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
export const otherSecret = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

/** The time of the tests, in Unix seconds. */
export const now = 1_800_000_000

/** An event as the sender writes it; characters beyond ASCII show whether bytes are compared. */
export const event = {
  id: '019a9c6e-8f3c-7d1a-9b1e-0c5f6a7b8c9d',
  eventType: 'order.paid',
  createdAt: '2027-01-15T08:00:00.000Z',
  correlationId: 'cart-7',
  data: { id: 1, total: 49.9, city: 'Zürich 🚲' },
}

export interface Sample {
  id?: string
  /** The text that is sent; what is signed is `signed`, which by default is the same. */
  body?: string
  signed?: string
  secrets?: [string, ...string[]]
  timestamp?: number
  /** Headers that replace those of the sender; null removes one. */
  headers?: Record<string, string | null>
}

/** The headers and the body of a webhook, signed by the code of the sender. */
export function webhook(sample: Sample = {}): { headers: Record<string, string>; body: Buffer } {
  const { id = event.id, body = JSON.stringify(event), signed = body } = sample
  const { secrets: [first, ...more] = [secret], timestamp = now } = sample
  const { standard, simple } = sign(id, timestamp, Buffer.from(signed), [
    parseSecret(first),
    ...more.map(parseSecret),
  ])
  const headers: Record<string, string | null> = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard,
    'x-timestamp': String(timestamp),
    'x-signature': simple,
    'x-event-type': event.eventType,
    'x-correlation-id': event.correlationId,
    'idempotency-key': 'order-1-paid',
    'x-attempt': '2',
    ...sample.headers,
  }
  const present = Object.entries(headers).filter((pair): pair is [string, string] =>
    pair[1] !== null
  )
  return { headers: Object.fromEntries(present), body: Buffer.from(body) }
}
