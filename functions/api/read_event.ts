import { ApiError } from './errors.ts'
import type { PublishedEvent } from './publisher.ts'
import { DuplicateName, findMembers } from './raw_json.ts'

const sqlNames = [
  ['partitionKey', 'partition_key'],
  ['correlationId', 'correlation_id'],
  ['idempotencyKey', 'idempotency_key'],
  ['traceparent', 'traceparent'],
  ['endpointId', 'endpoint_id'],
  ['deliverAt', 'deliver_at'],
] as const

/**
 * Reads an event to publish: its fields by their SQL names, and its payload as it is in `text`.
 *
 * @param at where the event starts in `text`
 * @param path prefix of the field names in errors, such as `events.0.`
 * @throws ApiError `invalid_argument` without a payload, or for a member that occurs twice
 */
export function readEvent(
  text: string,
  at: number,
  event: {
    type: string
    payload?: unknown
    partitionKey?: string | undefined
    correlationId?: string | undefined
    idempotencyKey?: string | undefined
    traceparent?: string | undefined
    endpointId?: string | undefined
    deliverAt?: string | undefined
  },
  path: string,
): PublishedEvent {
  const span = refuseDuplicates(() => findMembers(text, at), path).get('payload')
  if (span === undefined) {
    throw new ApiError('invalid_argument', `${path}payload is missing`, {
      field: `${path}payload`,
      remedy: 'Send any JSON value; for an event without data an empty object',
    })
  }
  const fields: Record<string, string> = {}
  for (const [name, sqlName] of sqlNames) {
    const value = event[name]
    if (value !== undefined) fields[sqlName] = value
  }
  return {
    fields,
    type: event.type,
    body: text.slice(span.start, span.end),
    payload: event.payload,
  }
}

/**
 * Calls `find` on a JSON text.
 *
 * @throws ApiError `invalid_argument` for a member that occurs twice, named with the prefix `path`
 */
export function refuseDuplicates<Found>(find: () => Found, path: string): Found {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof DuplicateName)) throw error
    const field = `${path}${error.member.slice(0, 100)}`
    throw new ApiError('invalid_argument', `${field} occurs twice`, {
      field,
      remedy: 'Send each member once',
    })
  }
}
