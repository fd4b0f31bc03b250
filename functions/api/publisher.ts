import { z } from 'zod'
import { keyed } from '../_shared/base/keyed.ts'
import type { FunctionArgs } from '../_shared/database/functions.ts'
import { type Catalogue, CatalogueCache } from './catalogue_cache.ts'
import type { ApiDatabase } from './database.ts'
import { ApiError } from './errors.ts'
import { findMismatch, type Mismatched, type PayloadSchema, stepsFor } from './json_schema.ts'
import type { Steps } from './steps.ts'

/** An event to publish: `body` is the payload's JSON text, `payload` its parsed value. */
export type PublishedEvent = {
  fields: Record<string, string>
  type: string
  body: string
  payload: unknown
}

/**
 * Publishes all events of an organisation or none; resolves with their ids in order and with the
 * duplicates. `batchKey` is the Idempotency-Key of the batch, `traceparent` the trace of events that
 * name none, `charge` counts further requests for the events, their bytes and the check of the
 * payloads. Throws ApiError.
 */
export type Publish = (
  orgId: string,
  events: PublishedEvent[],
  traceparent: string | null,
  batchKey?: string,
  charge?: (requests: number) => void,
) => Promise<PublishedIds>

const schema: z.ZodType<PayloadSchema | null> = z.union([
  z.record(z.string(), z.unknown()),
  z.boolean(),
]).nullable()
const catalogueSchema: z.ZodType<Catalogue> = z.object({
  strict: z.boolean(),
  version: z.string(),
  types: keyed(z.string(), schema),
})
const publishedIds = z.object({
  ids: z.array(z.string()),
  // Absent from a stored response of an older version.
  duplicates: z.array(z.int()).default([]),
})
const resultSchema = z.union([
  publishedIds,
  z.object({ catalogue: catalogueSchema }),
])

/** The ids in the order of the events, and the indexes of events that were published before. */
export type PublishedIds = z.infer<typeof publishedIds>

/** How many catalogues are cached, and the characters of all; the oldest one is dropped first. */
const maxCatalogues = 200
const maxCharacters = 8_388_608
/** How often a publish is repeated because the catalogue changed between its check and the call. */
const maxRounds = 5

/**
 * Publishes through the database. It caches the catalogues of strict organisations; the call that
 * publishes returns a newer one if there is any.
 */
export function createPublisher(database: ApiDatabase): Publish {
  const catalogues = new CatalogueCache(maxCatalogues, maxCharacters)

  return async function publish(
    orgId,
    events,
    traceparent,
    batchKey,
    charge,
  ): Promise<PublishedIds> {
    const more = requestsFor(events)
    if (more > 0) charge?.(more)
    const rows = events.map(({ fields, type, body }) => ({ ...fields, type, body }))
    let isFresh = false
    for (let round = 0; round < maxRounds; round++) {
      const catalogue = catalogues.get(orgId)
      const refusal = catalogue === undefined ? null : findRefusal(catalogue, events, charge)
      if (refusal !== null) {
        if (isFresh) throw refusal
        const newest = await database.call(
          'read_catalogue',
          { p_org_id: orgId },
          catalogueSchema,
        )
        // The known copy stays, because its schemas are compiled.
        if (newest.version === catalogue?.version) throw refusal
        catalogues.keep(orgId, newest)
        isFresh = true
        continue
      }
      const args: FunctionArgs<'publish_events'> = { p_org_id: orgId, p_events: rows }
      if (catalogue !== undefined) args.p_catalogue = catalogue.version
      if (batchKey !== undefined) args.p_key = batchKey
      const result = await database.call('publish_events', args, resultSchema, { traceparent })
      if ('ids' in result) return result
      catalogues.keep(orgId, result.catalogue)
      isFresh = true
    }
    throw new ApiError('unavailable', 'The catalogue of event types keeps changing', {
      remedy: 'Send the request again after 1 s',
      headers: { 'retry-after': '1' },
    })
  }
}

/** For each full number of these events or characters, the request counts as one more request. */
const eventsOfRequest = 10
const charactersOfRequest = 65_536

function requestsFor(events: PublishedEvent[]): number {
  const characters = events.reduce((sum, { body }) => sum + body.length, 0)
  return Math.floor(events.length / eventsOfRequest) + Math.floor(characters / charactersOfRequest)
}

/** For each full number of these steps, the request counts as one more request. */
const stepsOfRequest = 500_000

function findRefusal(
  catalogue: Catalogue,
  events: PublishedEvent[],
  charge?: (requests: number) => void,
): ApiError | null {
  // One budget for all events of the request, so that the cost of a batch is linear in its size.
  const steps = stepsFor(events.reduce((sum, { body }) => sum + body.length, 0))
  const refusal = findRefused(catalogue, events, steps)
  charge?.(Math.floor((steps.taken + steps.compiled) / stepsOfRequest))
  return refusal
}

function findRefused(
  catalogue: Catalogue,
  events: PublishedEvent[],
  steps: Steps,
): ApiError | null {
  for (const [at, { type, payload }] of events.entries()) {
    if (!Object.hasOwn(catalogue.types, type)) {
      return new ApiError('invalid_argument', `events.${at}.type is not in the catalogue`, {
        field: `events.${at}.type`,
        remedy: 'Add it to the event types, or make the catalogue not strict',
      })
    }
    const mismatch = findMismatch(catalogue.types[type] ?? true, payload, steps)
    if (mismatch !== null) return refusalOf(mismatch, at, type.slice(0, 128))
  }
  return null
}

function refusalOf({ kind, path, detail }: Mismatched, at: number, type: string): ApiError {
  const field = `events.${at}.payload${path === '' ? '' : `.${path}`}`
  const problem = {
    payload: `${field} does not fit the schema of ${type}: ${detail}`,
    schema: `The schema of ${type} cannot be applied: ${detail}`,
    steps: `${field} is too costly to check: the schema of ${type} ${detail}`,
  }[kind]
  const remedy = kind === 'steps'
    ? 'Send fewer or smaller events at a time, or simplify the schema: a large anyOf or oneOf as ' +
      'enum, or as if and then with const'
    : 'The event type shows its schema'
  return new ApiError('schema_mismatch', problem, { field, remedy })
}
