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
  z.object({ catalogue: catalogueSchema, duplicates: z.array(z.int()).default([]) }),
])

/** The ids in the order of the events, and the indexes of events that were published before. */
export type PublishedIds = z.infer<typeof publishedIds>

/** How many catalogues are cached, and the characters of all; the oldest one is dropped first. */
const maxCatalogues = 200
const maxCharacters = 8_388_608
/** How often a publish is repeated because the catalogue changed between its check and the call. */
const maxRounds = 5

/** The catalogues of strict organisations, for all publishers of a process. */
export function createCatalogues(): CatalogueCache {
  return new CatalogueCache(maxCatalogues, maxCharacters)
}

/**
 * Publishes through the database. It caches the catalogues of strict organisations; the call that
 * publishes returns a newer one if there is any. Idempotency keys come before the catalogue: the
 * database is asked before an event is refused, and names the events that were published before.
 */
export function createPublisher(
  database: ApiDatabase,
  catalogues: CatalogueCache = createCatalogues(),
): Publish {
  /** The whole catalogue is sent after each change of it, so its size is charged. */
  function keep(
    orgId: string,
    catalogue: Catalogue,
    charge?: (requests: number) => void,
  ): void {
    const more = Math.floor(catalogues.keep(orgId, catalogue) / charactersOfRequest)
    if (more > 0) charge?.(more)
  }

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
    let repeats: ReadonlySet<number> = new Set()
    let isFresh = false
    for (let round = 0; round < maxRounds; round++) {
      const catalogue = catalogues.get(orgId)
      const refusal = catalogue === undefined
        ? null
        : findRefusal(catalogue, events, repeats, charge)
      if (refusal !== null && isFresh) throw refusal
      const args: FunctionArgs<'publish_events'> = { p_org_id: orgId, p_events: rows }
      // Without a version, only a repeat is published, or the catalogue is not strict any more.
      if (catalogue !== undefined && refusal === null) args.p_catalogue = catalogue.version
      if (batchKey !== undefined) args.p_key = batchKey
      const result = await database.call('publish_events', args, resultSchema, { traceparent })
      if ('ids' in result) return result
      // The known copy stays, because its schemas are compiled.
      const isKnown = result.catalogue.version === catalogue?.version
      if (refusal !== null && isKnown && result.duplicates.length === 0) throw refusal
      if (!isKnown) keep(orgId, result.catalogue, charge)
      repeats = new Set(result.duplicates)
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
  repeats: ReadonlySet<number>,
  charge?: (requests: number) => void,
): ApiError | null {
  // One budget for all events of the request, so that the cost of a batch is linear in its size.
  const steps = stepsFor(events.reduce((sum, { body }) => sum + body.length, 0))
  const refusal = findRefused(catalogue, events, repeats, steps)
  charge?.(Math.floor((steps.taken + steps.compiled) / stepsOfRequest))
  return refusal
}

function findRefused(
  catalogue: Catalogue,
  events: PublishedEvent[],
  repeats: ReadonlySet<number>,
  steps: Steps,
): ApiError | null {
  for (const [at, { type, payload }] of events.entries()) {
    if (repeats.has(at)) continue
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
