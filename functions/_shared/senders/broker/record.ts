import { Buffer } from 'node:buffer'
import type { Delivery, Endpoint, EventRow } from '../../contract/contract.ts'
import { headerValue, webhookHeaders } from '../../signing/headers.ts'
import { bodyOf } from '../body.ts'

/** An event as a record or message of any broker. */
export type BrokerRecord = {
  /** The event's id. */
  id: string
  value: Buffer
  /** The headers of a webhook without signatures: a broker authenticates its writers. */
  headers: Record<string, string>
  /** Unix seconds. */
  timestamp: number
  /** Whether it is for the dead-letter topic; outbox.publish_dead_letters() creates such events. */
  isDeadLetter: boolean
}

/** The event's organisation, so that a consumer can tell to which database it belongs. */
export const orgHeader = 'x-outhook-org'
/** The event's partition key, percent-encoded. */
export const keyHeader = 'x-outhook-partition-key'

/** The type of the events that outbox.publish_dead_letters() creates; nobody else can publish it. */
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
  headers[orgHeader] = headerValue(event.org_id)
  const { partition_key } = event
  if (typeof partition_key === 'string') headers[keyHeader] = encodeURIComponent(partition_key)
  return {
    id: delivery.event,
    value: Buffer.from(isDeadLetter ? event.body : bodyOf(endpoint, delivery.event, event), 'utf8'),
    headers,
    timestamp,
    isDeadLetter,
  }
}
