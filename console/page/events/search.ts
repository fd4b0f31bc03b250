import type { Output } from '../../../package/client/operation_types.ts'
import { api } from '../app/api.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const eventType = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** What the search can look for: each has an index. */
export const searchKinds = [
  ['', 'Event type'],
  ['id', 'Event id'],
  ['correlation', 'Correlation id'],
  ['idempotency', 'Idempotency key'],
] as const

/** What is wrong with a search text; null if it can be searched. */
export function searchProblem(kind: string, text: string): string | null {
  if (text === '') return null
  if (kind === 'id' && !uuid.test(text)) {
    return 'An event id has the form 01a2203a-0510-79a1-bb91-f1e06b0cb7a6.'
  }
  if (kind === '' && !eventType.test(text)) {
    return 'An event type has letters, digits, _ and -, in parts with dots, such as order.paid.'
  }
  if (kind !== '' && !/^[\x21-\x7e]{1,128}$/.test(text)) {
    const name = kind === 'idempotency' ? 'An idempotency key' : 'A correlation id'
    return `${name} has up to 128 characters of ASCII, without spaces.`
  }
  return null
}

type Page = Output<'listEvents'>

/** The events that a search finds, as a page of the list. */
export async function findEvents(
  { kind, text, from, cursor, signal }: {
    kind: string
    text: string
    from: string | undefined
    cursor: string | null
    signal: AbortSignal
  },
): Promise<Page> {
  if (kind === '' || text === '') {
    return await api.listEvents({
      query: {
        ...text === '' ? {} : { type: text },
        ...from === undefined ? {} : { from },
        ...cursor === null ? {} : { cursor },
      },
      signal,
    })
  }
  // An event without a correlation id is found by its own id.
  const query = kind === 'idempotency' ? { idempotencyKey: text } : { correlationId: text }
  if (kind === 'id') {
    return { data: [await api.getEvent({ path: { eventId: text }, signal })], nextCursor: null }
  }
  const { events } = await api.search({ query: { ...query, limit: 100 }, signal })
  return { data: events, nextCursor: null }
}
