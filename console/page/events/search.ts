import type { Output } from '../../../package/client/operation_types.ts'
import { api, asFailure } from '../app/api.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** What a correlation id and an idempotency key are made of. */
const id = /^[\x21-\x7e]{1,128}$/
const eventType = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/

/** What the search can look for. */
export const searchKinds = [
  ['', 'Anything'],
  ['type', 'Event type'],
  ['id', 'Event id'],
  ['correlation', 'Correlation id'],
  ['idempotency', 'Idempotency key'],
  ['partition', 'Partition key'],
] as const

const names: Readonly<Record<string, string>> = {
  '': 'An id or a key',
  correlation: 'A correlation id',
  idempotency: 'An idempotency key',
}

/** What is wrong with a search text; null if it can be searched. */
export function searchProblem(kind: string, text: string): string | null {
  if (text === '') return null
  if (kind === 'partition') {
    return text.length <= 256 ? null : 'A partition key has up to 256 characters.'
  }
  if (kind === 'id' && !uuid.test(text)) {
    return 'An event id has the form 01a2203a-0510-79a1-bb91-f1e06b0cb7a6.'
  }
  if (kind === 'type' && !eventType.test(text)) {
    return 'An event type has letters, digits, _ and -, in parts with dots, such as order.paid.'
  }
  if (!id.test(text)) return `${names[kind]} has up to 128 characters of ASCII, without spaces.`
  return null
}

type Page = Output<'listEvents'>

/** A search of the list of events. */
interface Search {
  kind: string
  text: string
  from: string | undefined
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
  const { events } = await api.search({ query: { ...query, limit: 100 }, signal })
  return { data: events, nextCursor: null }
}

async function listed(
  { from, cursor, signal }: Search,
  filter: { type?: string; partitionKey?: string },
): Promise<Page> {
  const page = cursor === null ? {} : { cursor }
  const since = from === undefined ? {} : { from }
  return await api.listEvents({ query: { ...filter, ...since, ...page }, signal })
}

/** By its own id, a correlation id or an idempotency key; if there is none, by the type. */
async function findAnything(search: Search): Promise<Page> {
  const { text, from, cursor, signal } = search
  const typed = (): Promise<Page> => listed(search, { type: text })
  // Only a type has a second page.
  if (cursor !== null) return await typed()
  const limit = 100
  const [own, ...found] = await Promise.all([
    uuid.test(text) ? eventOf(text, signal) : null,
    api.search({ query: { correlationId: text, limit }, signal }),
    api.search({ query: { idempotencyKey: text, limit }, signal }),
  ])
  const events = [...own === null ? [] : [own], ...found.flatMap((one) => one.events)]
  const data = [...new Map(events.map((event) => [event.id, event])).values()]
    .filter(({ createdAt }) => from === undefined || createdAt >= from)
  return data.length > 0 || !eventType.test(text) ? { data, nextCursor: null } : await typed()
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
