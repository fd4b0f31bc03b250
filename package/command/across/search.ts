import { showTable } from '../api/table.ts'
import type { Answer, Asked } from './ask.ts'

/** By what an event was found. */
export type By = 'id' | 'idempotency key' | 'correlation id'

/** An event that was found in a database. */
export interface Match {
  by: By
  orgId: string
  eventId: string
  /** Null if only a dead letter of the event is stored. */
  createdAt: string | null
  eventType: string | null
  /** How many deliveries have each status, among the first ones if there are many. */
  deliveries: Record<string, number>
  /** Whether there may be more deliveries. */
  hasMore: boolean
}

type Delivery = { eventId: string; status: string }
type Found = {
  events: { id: string; type: string; createdAt: string }[]
  deliveries: Delivery[]
  deadLetters: { eventId: string; eventType: string; status: string }[]
  /** The names of the lists that were cut. */
  moreOf: string[]
}
/** The most deliveries that get_event() returns. */
const eventDeliveries = 1_000

type Event = { type: string; createdAt: string; deliveries: Delivery[] }

/** Whether a text can be the id of an event. */
export function isEventId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/** The organisation of the event with this id; null if the database does not have it. */
export async function findOrg(database: Asked, id: string): Promise<string | null> {
  return isEventId(id) ? await database.call<string | null>('org_of_event', { event_id: id }) : null
}

/** What a database has of these organisations under a text, `limit` events of each kind at most. */
export async function findMatches(
  database: Asked,
  { text, orgs, limit }: { text: string; orgs: readonly string[]; limit: number },
): Promise<Match[]> {
  const matches: Match[] = []
  const own = await findOrg(database, text)
  if (own !== null) matches.push(await matchOfId(database, own, text.toLowerCase()))
  for (const org of orgs) {
    for (const by of ['idempotency key', 'correlation id'] as const) {
      const found = await database.call<Found>('search_org', {
        org_id: org,
        [by === 'correlation id' ? 'correlation_id' : 'idempotency_key']: text,
        limit,
      })
      for (const match of matchesOf(found, org, by)) {
        if (!matches.some(({ eventId }) => eventId === match.eventId)) matches.push(match)
      }
    }
  }
  return matches
}

async function matchOfId(database: Asked, orgId: string, eventId: string): Promise<Match> {
  const found = { by: 'id' as const, orgId, eventId }
  try {
    const event = await database.call<Event>('get_event', { org_id: orgId, event_id: eventId })
    const { type: eventType, createdAt, deliveries } = event
    const hasMore = deliveries.length === eventDeliveries
    return { ...found, createdAt, eventType, deliveries: countStatuses(deliveries), hasMore }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'OH002')) throw error
    return {
      ...found,
      createdAt: null,
      eventType: null,
      deliveries: { dead_letter: 1 },
      hasMore: true,
    }
  }
}

function matchesOf(
  { events, deliveries, deadLetters, moreOf }: Found,
  orgId: string,
  by: By,
): Match[] {
  const hasMore = moreOf.includes('deliveries')
  const known = new Set(events.map(({ id }) => id))
  const lost = deadLetters.filter(({ eventId }) => !known.has(eventId))
  return [
    ...events.map(({ id, type, createdAt }): Match => ({
      by,
      orgId,
      eventId: id,
      createdAt,
      eventType: type,
      deliveries: countStatuses(deliveries.filter(({ eventId }) => eventId === id)),
      hasMore,
    })),
    ...[...new Set(lost.map(({ eventId }) => eventId))].map((eventId): Match => {
      const own = lost.filter((letter) => letter.eventId === eventId)
      const eventType = own[0]?.eventType ?? null
      const count = { dead_letter: own.length }
      return { by, orgId, eventId, createdAt: null, eventType, deliveries: count, hasMore: false }
    }),
  ]
}

function countStatuses(deliveries: readonly { status: string }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of deliveries) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** A match with its database. */
export type PlacedMatch = { database: string } & Match

/** The matches of all databases that have answered, in the order of the databases. */
export function placeMatches(answers: readonly Answer<Match[]>[]): PlacedMatch[] {
  return answers.flatMap((one) =>
    one.ok ? one.value.map((match) => ({ database: one.name, ...match })) : []
  )
}

/** The matches as a table. */
export function showMatches(matches: readonly PlacedMatch[]): string {
  return showTable(
    ['database', 'found by', 'organisation', 'event', 'event type', 'created', 'deliveries'],
    matches.map(({ database, by, orgId, eventId, eventType, createdAt, deliveries, hasMore }) => [
      database,
      by,
      orgId,
      eventId,
      eventType,
      createdAt ?? 'not stored any more',
      (Object.entries(deliveries).map(([status, n]) => `${n} ${status}`).join(', ') || 'none') +
      (hasMore ? ' …' : ''),
    ]),
  )
}
