import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'
import { listPath } from '../app/list_path.ts'
import type { Span } from '../parts/span.tsx'
import { eventType, isCut, mostFound, uuid } from './search_text.ts'

type Page = Output<'listEvents'> & { isCut?: boolean }

/** A search of the list of events. */
interface Search {
  kind: string
  text: string
  span: Span
  cursor: string | null
  signal: AbortSignal
}

/** The events that a search finds, as a page of the list. */
export async function findEvents(search: Search): Promise<Page> {
  const { kind, text, signal } = search
  if (text === '') return await listed(search, {})
  if (kind === '') return await findAnything(search)
  if (kind === 'type') return await listed(search, { type: text })
  if (kind === 'partition') return await listed(search, { partitionKey: text })
  if (kind === 'id') {
    return { data: [await api.getEvent({ path: { eventId: text }, signal })], nextCursor: null }
  }
  // An event without a correlation id is found by its own id.
  const query = kind === 'idempotency' ? { idempotencyKey: text } : { correlationId: text }
  const found = await api.search({ query: { ...query, limit: mostFound }, signal })
  return { data: found.events, nextCursor: null, isCut: isCut(found) }
}

/** The path of the API for a search; undefined if it takes several. */
export function searchPath(
  { kind, text, span }: Pick<Search, 'kind' | 'text' | 'span'>,
): string | undefined {
  if (text === '') return listPath('/events', { ...span })
  if (kind === 'type') return listPath('/events', { type: text, ...span })
  if (kind === 'partition') return listPath('/events', { partitionKey: text, ...span })
  if (kind === 'correlation') return listPath('/search', { correlationId: text })
  return kind === 'idempotency' ? listPath('/search', { idempotencyKey: text }) : undefined
}

async function listed(
  { span, cursor, signal }: Search,
  filter: { type?: string; partitionKey?: string },
): Promise<Page> {
  const page = cursor === null ? {} : { cursor }
  return await api.listEvents({ query: { ...filter, ...span, ...page }, signal })
}

/** By its own id, a correlation id or an idempotency key; if there is none, by the type. */
async function findAnything(search: Search): Promise<Page> {
  const { text, span: { from, to }, cursor, signal } = search
  const typed = (): Promise<Page> => listed(search, { type: text })
  // Only a type has a second page.
  if (cursor !== null) return await typed()
  const limit = mostFound
  const [own, ...found] = await Promise.all([
    uuid.test(text) ? eventOf(text, signal) : null,
    api.search({ query: { correlationId: text, limit }, signal }),
    api.search({ query: { idempotencyKey: text, limit }, signal }),
  ])
  const events = [...own === null ? [] : [own], ...found.flatMap((one) => one.events)]
  const data = [...new Map(events.map((event) => [event.id, event])).values()]
    .filter(({ createdAt }) =>
      (from === undefined || createdAt >= from) && (to === undefined || createdAt < to)
    )
  return data.length > 0 || !eventType.test(text)
    ? { data, nextCursor: null, isCut: found.some(isCut) }
    : await typed()
}

/** The event with an id; null if there is none. */
async function eventOf(eventId: string, signal: AbortSignal): Promise<Page['data'][number] | null> {
  try {
    return await api.getEvent({ path: { eventId }, signal })
  } catch (error) {
    if (asFailure(error).status === 404) return null
    throw error
  }
}
