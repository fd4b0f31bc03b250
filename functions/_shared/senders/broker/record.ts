import { Buffer } from 'node:buffer'
import type { Delivery, Endpoint, EventRow } from '../../contract/contract.ts'
import { webhookHeaders } from '../../signing/headers.ts'
import { bodyOf } from '../body.ts'

/** What a broker is given of an event, whichever broker it is. */
export type BrokerRecord = {
  /** The event's id. */
  id: string
  value: Buffer
  /** Those of a webhook, without the signatures: a broker knows who writes to it. */
  headers: Record<string, string>
  /** Unix seconds. */
  timestamp: number
  /** Whether this is for the dead-letter topic: outbox.publish_dead_letters() made it. */
  isDeadLetter: boolean
}

/** The type of the events that outbox.publish_dead_letters() makes; nobody else can publish one. */
const deadLetterType = 'outhook.dead_letter'

/** The record of one attempt. `wallNow` is milliseconds since 1970. */
export function recordOf(
  delivery: Delivery,
  endpoint: Endpoint,
  event: EventRow,
  wallNow: number,
): BrokerRecord {
  const timestamp = Math.floor(wallNow / 1000)
  const isDeadLetter = event.type === deadLetterType
  const list = webhookHeaders({ delivery, event, endpoint, timestamp, signatures: null })
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < list.length; at += 2) headers[list[at] ?? ''] = list[at + 1] ?? ''
  return {
    id: delivery.event,
    value: Buffer.from(isDeadLetter ? event.body : bodyOf(endpoint, delivery.event, event), 'utf8'),
    headers,
    timestamp,
    isDeadLetter,
  }
}
