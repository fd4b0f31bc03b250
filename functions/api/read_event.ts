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
 * What is published of an event: its fields by their SQL names, its payload as it stands in `text`.
 *
 * @param at where the event begins in `text`
 * @param path what the names of its fields begin with in errors, such as `events.0.`
 * @throws ApiError `invalid_argument` without a payload, or with a member that is there twice
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
  const span = refuseTwice(() => findMembers(text, at), path).get('payload')
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
 * What `find` finds in a JSON text.
 *
 * @throws ApiError `invalid_argument` for a member that is there twice, named behind `path`
 */
export function refuseTwice<Found>(find: () => Found, path: string): Found {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof DuplicateName)) throw error
    const field = `${path}${error.member.slice(0, 100)}`
    throw new ApiError('invalid_argument', `${field} is there twice`, {
      field,
      remedy: 'Send each member once',
    })
  }
}
