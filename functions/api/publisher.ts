import { z } from 'zod'
import type { FunctionArgs } from '../_shared/database/functions.ts'
import type { ApiDatabase } from './database.ts'
import { ApiError } from './errors.ts'
import { findMismatch, type PayloadSchema } from './json_schema.ts'

/** An event to publish: `body` is the payload's own text, `payload` what it says. */
export type PublishedEvent = {
  fields: Record<string, string>
  type: string
  body: string
  payload: unknown
}

/**
 * Publishes for an organisation, all or none, and gives the ids in order; `batchKey` is the
 * Idempotency-Key of the whole, `traceparent` the trace of those that name none. Throws ApiError.
 */
export type Publish = (
  orgId: string,
  events: PublishedEvent[],
  traceparent: string | null,
  batchKey?: string,
) => Promise<string[]>

const schema: z.ZodType<PayloadSchema | null> = z.union([
  z.record(z.string(), z.unknown()),
  z.boolean(),
]).nullable()
const catalogueSchema = z.object({
  strict: z.boolean(),
  version: z.string(),
  types: z.record(z.string(), schema),
})
const answerSchema = z.union([
  z.object({ ids: z.array(z.string()) }),
  z.object({ catalogue: catalogueSchema }),
])

type Catalogue = z.infer<typeof catalogueSchema>

/** How many organisations' catalogues are kept; the one longest there goes first. */
const mostCatalogues = 200
/** The catalogue may change between a check and its publishing, though hardly again and again. */
const mostRounds = 5

/**
 * Publishes through the database. The catalogues of strict organisations are kept; the database says
 * when one is old, in the call that publishes.
 */
export function createPublisher(database: ApiDatabase): Publish {
  const catalogues = new Map<string, Catalogue>()

  function keep(orgId: string, catalogue: Catalogue): void {
    catalogues.delete(orgId)
    if (catalogue.strict) catalogues.set(orgId, catalogue)
    const [oldest] = catalogues.keys()
    if (catalogues.size > mostCatalogues && oldest !== undefined) catalogues.delete(oldest)
  }

  return async function publish(orgId, events, traceparent, batchKey): Promise<string[]> {
    const rows = events.map(({ fields, type, body }) => ({ ...fields, type, body }))
    let isFresh = false
    for (let round = 0; round < mostRounds; round++) {
      const catalogue = catalogues.get(orgId)
      const refusal = catalogue === undefined ? null : findRefusal(catalogue, events)
      if (refusal !== null) {
        if (isFresh) throw refusal
        keep(orgId, await database.call('read_catalogue', { p_org_id: orgId }, catalogueSchema))
        isFresh = true
        continue
      }
      const args: FunctionArgs<'publish_events'> = { p_org_id: orgId, p_events: rows }
      if (catalogue !== undefined) args.p_catalogue = catalogue.version
      if (batchKey !== undefined) args.p_key = batchKey
      const answer = await database.call('publish_events', args, answerSchema, { traceparent })
      if ('ids' in answer) return answer.ids
      keep(orgId, answer.catalogue)
      isFresh = true
    }
    throw new ApiError('unavailable', 'The catalogue of event types keeps changing', {
      remedy: 'Send the request again in a moment',
      headers: { 'retry-after': '1' },
    })
  }
}

function findRefusal(catalogue: Catalogue, events: PublishedEvent[]): ApiError | null {
  for (const [at, { type, payload }] of events.entries()) {
    if (!Object.hasOwn(catalogue.types, type)) {
      return new ApiError('invalid_argument', `events.${at}.type is not in the catalogue`, {
        field: `events.${at}.type`,
        remedy: 'Add it to the event types, or make the catalogue not strict',
      })
    }
    const mismatch = findMismatch(catalogue.types[type] ?? true, payload)
    if (mismatch !== null) {
      const field = `events.${at}.payload${mismatch.path === '' ? '' : `.${mismatch.path}`}`
      return new ApiError(
        'schema_mismatch',
        mismatch.kind === 'payload'
          ? `${field} does not fit the schema of ${type.slice(0, 128)}: ${mismatch.detail}`
          : `The schema of ${type.slice(0, 128)} cannot be applied: ${mismatch.detail}`,
        { field, remedy: 'The event type shows its schema' },
      )
    }
  }
  return null
}
