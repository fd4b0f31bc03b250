import type { Output } from '../../../package/client/operation_types.ts'
import { visible } from '../app/format.ts'

type Endpoint = Output<'getEndpoint'>
type EventDetail = Output<'getEvent'>
type Attempt = Output<'listAttempts'>['data'][number]

/** The request of an attempt as text, or why it is not known. */
export type Rebuilt = { text: string; isCut: boolean } | { why: string }

/** So much of the body is shown. */
const longestBody = 4000

const hidden = '(not shown)'

/** When the request of an attempt was sent, about: its result came `durationMs` later. */
export function sentAt({ at, durationMs }: Attempt): string {
  return new Date(Date.parse(at) - (durationMs ?? 0)).toISOString()
}

/**
 * The request of an attempt, from what is stored. No request is stored: only what must have been the
 * same is shown. If the endpoint has been changed since, its URL and headers are not known.
 */
export function rebuildRequest(
  { endpoint, event, payload, attempt }: {
    endpoint: Endpoint
    event: EventDetail
    /** As it was published, byte for byte. */
    payload: string | null
    attempt: Attempt
  },
): Rebuilt {
  if (endpoint.kind !== 'webhook') {
    return { why: `The request of an endpoint of the kind ${endpoint.kind} is not rebuilt.` }
  }
  if (payload === null) return { why: 'The payload is not stored any more.' }
  if (Date.parse(endpoint.updatedAt) >= Date.parse(sentAt(attempt))) {
    return {
      why: 'The endpoint has been changed since, so where and how it was sent is not known.',
    }
  }
  const headers = [
    ...endpoint.headerNames.map((name) => [name, hidden] as const),
    ['content-type', 'application/json'],
    ['webhook-id', event.id],
    ['idempotency-key', event.idempotencyKey ?? event.id],
    ['webhook-signature', hidden],
    ['x-event-type', event.type],
    ['x-correlation-id', event.correlationId ?? event.id],
  ] as const
  const body = bodyOf(endpoint, event, payload)
  const lines = headers.map(([name, value]) => `${name}: ${visible(value)}`)
  return {
    text: `POST ${visible(endpoint.url)}\n${lines.join('\n')}\n\n` +
      visible(body.slice(0, longestBody)),
    isCut: body.length > longestBody,
  }
}

/** As the sender builds it: the same in each attempt. */
function bodyOf({ payload: form }: Endpoint, event: EventDetail, payload: string): string {
  if (form === 'data') return payload
  const { id, type, correlationId } = event
  // The time in the id, to the millisecond.
  const at = new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString()
  return `{"id":"${id}","eventType":${JSON.stringify(type)},"createdAt":"${at}",` +
    `"correlationId":${JSON.stringify(correlationId ?? id)},"data":${payload}}`
}
