import type { Output } from '../../../package/client/operation_types.ts'
import { visible } from '../app/format.ts'

type Endpoint = Output<'getEndpoint'>
type EventDetail = Output<'getEvent'>
type Attempt = Output<'listAttempts'>['data'][number]

/** The request of an attempt as text, or why it is not known. */
export type Rebuilt = { text: string; isCut: boolean } | { why: string }

/** How many characters of the body are shown. */
const longestBody = 4000

const hidden = '(not shown)'

/** Failures before the request: see errorHints. */
const unsent: readonly (string | null)[] = ['dns', 'blocked', 'connect', 'tls']

/** Why it is not certain that the request of an attempt was sent; null if it was: a response came. */
export function doubtOf({ status, errorClass, resent }: Attempt): string | null {
  if (status !== null) return null
  return unsent.includes(errorClass) && !resent
    ? 'Nothing was sent: the attempt ended before its request.'
    : 'No response came, so it is not known what was sent.'
}

/**
 * When the request of an attempt was sent, at the latest: its result came `durationMs` later, and was
 * stored then or a little after. Null if it is not certain that it was sent.
 */
export function sentAt(attempt: Attempt): string | null {
  const { at, durationMs } = attempt
  if (durationMs === null || doubtOf(attempt) !== null) return null
  return new Date(Date.parse(at) - durationMs).toISOString()
}

/**
 * The request of an attempt, from what is stored. No request is stored: it is shown only if a
 * response proves that it was sent, and if the endpoint has the version with which it was.
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
  const doubt = doubtOf(attempt)
  if (doubt !== null) return { why: doubt }
  if (payload === null) return { why: 'The payload is not stored any more.' }
  if (attempt.endpointVersion === null) {
    return { why: 'The version of the endpoint with which it was sent is not stored.' }
  }
  if (attempt.endpointVersion !== endpoint.version) {
    return {
      why:
        `It was sent with version ${attempt.endpointVersion} of the endpoint. The endpoint was ` +
        'changed since then, so the URL and the headers are not known.',
    }
  }
  const headers = [
    ...endpoint.headerNames.map((name) => [name, hidden] as const),
    ['content-type', 'application/json'],
    ['webhook-id', event.id],
    ['idempotency-key', headerValue(event.idempotencyKey ?? event.id)],
    ['webhook-signature', hidden],
    ['x-event-type', headerValue(event.type)],
    ['x-correlation-id', headerValue(event.correlationId ?? event.id)],
  ] as const
  const body = requestBody(endpoint, event, payload)
  const lines = headers.map(([name, value]) => `${name}: ${visible(value)}`)
  return {
    text: `POST ${visible(endpoint.url)}\n${lines.join('\n')}\n\n` +
      visible(body.slice(0, longestBody)),
    isCut: body.length > longestBody,
  }
}

/** As the sender encodes it: tests/console/timeline.test.ts compares both. */
function headerValue(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

/** As the sender builds it: the same in each attempt. */
function requestBody({ payload: form }: Endpoint, event: EventDetail, payload: string): string {
  if (form === 'data') return payload
  const { id, type, correlationId } = event
  // The time in the id, to the millisecond.
  const at = new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString()
  return `{"id":"${id}","eventType":${JSON.stringify(type)},"createdAt":"${at}",` +
    `"correlationId":${JSON.stringify(correlationId ?? id)},"data":${payload}}`
}
