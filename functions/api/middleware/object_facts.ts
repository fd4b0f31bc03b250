import { z } from 'zod'
import type { ApiDatabase } from '../database.ts'
import { deliveryKey } from '../schemas/deliveries.ts'

/** What a rule needs to know of an object. */
export type Facts = { endpointId: string | null; types: readonly (string | null)[]; kind?: string }

/** Reads the facts of an object; the database says `not_found` for another organisation's. */
type Load = (database: ApiDatabase, orgId: string, id: string) => Promise<Facts>

const endpointFacts = z.object({
  id: z.string(),
  kind: z.string(),
  eventTypes: z.array(z.string()),
})
const deliveryFacts = z.object({
  endpointId: z.string().nullable(),
  eventType: z.string().nullable(),
})

/** A replay job has one event type or all, a backfill a list or those of its endpoint. */
const jobFacts = z.object({
  source: z.string(),
  endpointId: z.string().nullable(),
  eventType: z.string().nullable().default(null),
  eventTypes: z.array(z.string()).nullable().default(null),
})

/** By the first word of the path: the form of an id, and how its facts are read. */
export const loaders: Readonly<Record<string, { form: RegExp; load: Load }>> = {
  endpoints: {
    form: /^[0-9a-f-]{36}$/i,
    async load(database, p_org_id, p_endpoint_id): Promise<Facts> {
      const endpoint = await database.call(
        'get_org_endpoint',
        { p_org_id, p_endpoint_id },
        endpointFacts,
      )
      return { endpointId: endpoint.id, types: typesOf(endpoint), kind: endpoint.kind }
    },
  },
  deliveries: {
    form: /^[0-9a-f-]{36}\.[0-9a-f-]{36}$/i,
    async load(database, p_org_id, id): Promise<Facts> {
      return ofDelivery(
        await database.call('get_delivery', { p_org_id, ...deliveryKey(id) }, deliveryFacts),
      )
    },
  },
  'dead-letters': {
    form: /^[0-9a-f-]{36}$/i,
    async load(database, p_org_id, p_id): Promise<Facts> {
      return ofDelivery(await database.call('get_dead_letter', { p_org_id, p_id }, deliveryFacts))
    },
  },
  'replay-jobs': {
    form: /^[0-9]{1,18}$/,
    async load(database, p_org_id, p_id): Promise<Facts> {
      const job = await database.call('get_replay_job', { p_org_id, p_id }, jobFacts)
      if (job.source === 'dead_letters' || job.endpointId === null) return ofDelivery(job)
      if (job.eventTypes !== null) return { endpointId: job.endpointId, types: job.eventTypes }
      // Without types of its own, a backfill sends those of its endpoint.
      const endpoint = await database.call(
        'get_org_endpoint',
        { p_org_id, p_endpoint_id: job.endpointId },
        endpointFacts,
      )
      return { endpointId: job.endpointId, types: typesOf(endpoint) }
    },
  },
  events: {
    form: /^[0-9a-f-]{36}$/i,
    async load(database, p_org_id, p_event_id): Promise<Facts> {
      const event = await database.call(
        'get_event',
        { p_org_id, p_event_id },
        z.object({ type: z.string() }),
      )
      return { endpointId: null, types: [event.type] }
    },
  },
  'event-types': {
    form: /^[A-Za-z0-9_.-]{1,128}$/,
    load: (_database, _org, type): Promise<Facts> =>
      Promise.resolve({ endpointId: null, types: [type] }),
  },
}

/**
 * The event types of an endpoint. An endpoint without event types gets any event that is addressed to it.
 * Its result is null, which is within no limit.
 */
export function typesOf({ eventTypes }: { eventTypes: string[] }): (string | null)[] {
  return eventTypes.length === 0 ? [null] : eventTypes
}

function ofDelivery({ endpointId, eventType }: z.infer<typeof deliveryFacts>): Facts {
  return { endpointId, types: [eventType] }
}
