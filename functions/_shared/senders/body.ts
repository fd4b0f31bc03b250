import type { Endpoint, EventRow } from '../contract/contract.ts'

/** The body for an event. It depends only on the event, so it is the same in each attempt. */
export function bodyOf(
  { payload }: Pick<Endpoint, 'payload'>,
  id: string,
  event: Pick<EventRow, 'type' | 'correlation_id' | 'body'>,
): string {
  return payload === 'envelope' ? envelopeOf(id, event) : event.body
}

/** Built here, because the database would take 3.5 µs for each event. */
function envelopeOf(
  id: string,
  { type, correlation_id, body }: Pick<EventRow, 'type' | 'correlation_id' | 'body'>,
): string {
  return `{"id":"${id}","eventType":${JSON.stringify(type)},"createdAt":"${createdAt(id)}",` +
    `"correlationId":${JSON.stringify(correlation_id)},"data":${body}}`
}

/** The time in a UUID v7, to the millisecond (RFC 9562 section 5.7). */
function createdAt(id: string): string {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString()
}
