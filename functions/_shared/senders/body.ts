import type { Endpoint, EventRow } from '../contract/contract.ts'

/** What is sent of the event of that id: it comes from the event alone, the same on every try. */
export function bodyOf({ payload }: Endpoint, id: string, event: EventRow): string {
  return payload === 'envelope' ? envelopeOf(id, event) : event.body
}

/** Made here and not in the database, where it took 3.5 µs an event. */
function envelopeOf(id: string, { type, correlation_id, body }: EventRow): string {
  return `{"id":"${id}","eventType":${JSON.stringify(type)},"createdAt":"${createdAt(id)}",` +
    `"correlationId":${JSON.stringify(correlation_id)},"data":${body}}`
}

/** The time that a uuid v7 begins with, to the millisecond (RFC 9562 section 5.7). */
function createdAt(id: string): string {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString()
}
