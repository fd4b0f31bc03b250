import type { Context, MiddlewareHandler } from 'hono'
import { z } from 'zod'
import { includesEndpoint, includesType, type TokenLimits } from '../auth/token_limits.ts'
import type { ApiEnv } from '../context.ts'
import { ApiError } from '../errors.ts'
import { keyRequired } from './access.ts'
import { type Facts, loaders, typesOf } from './object_facts.ts'

/** The kinds of endpoints that a token may create and change. The operator owns the others. */
export const openKinds: readonly string[] = ['webhook', 'slack']

/**
 * The rules of a token beyond its scopes. Only a secret key changes an endpoint of a kind that the
 * operator owns (403). A portal token with limits reaches only objects within them: another object is
 * not found (404), and a list must name an endpoint or a type within the limits (403).
 */
export const tokenRules: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const { kind, portal, orgId } = c.get('principal')
  if (kind === 'key') return await next()
  const limits = portal?.limits ?? null
  const [room = '', word, ...rest] = c.req.path.replace(/^.*\/api\/v1\//, '').split('/')
  // A preview names its objects in the body, as the creation of the job does.
  const id = room === 'replay-jobs' && word === 'preview' ? undefined : word
  const loader = Object.hasOwn(loaders, room) ? loaders[room] : undefined
  const changes = c.req.method !== 'GET' || rest[0] === 'secret'
  if (loader === undefined) {
    if (limits !== null && room !== 'retry-config') throw outsideLimits(`/${room}`)
    return await next()
  }
  // The route refuses an id of another form.
  if (
    id !== undefined && loader.form.test(id) &&
    (limits !== null || room === 'endpoints' && changes)
  ) {
    const facts = await loader.load(c.get('database'), orgId, id).catch((error) => {
      if (limits === null && mayBeRepeat(c, error)) return null
      throw error
    })
    if (limits !== null && facts !== null && !isWithin(limits, facts, room)) {
      throw new ApiError('not_found', 'The token is limited to other objects')
    }
    if (changes && facts?.kind !== undefined && !openKinds.includes(facts.kind)) {
      throw keyRequired(`An endpoint of the kind ${facts.kind} is changed`)
    }
  }
  if (limits !== null) await checkRequest(c, limits, room, id)
  await next()
  if (limits !== null && id === undefined && c.res.ok) await keepWithin(c, limits, room)
}

/** A repeat returns its first response, although its object may be deleted since: the route decides. */
function mayBeRepeat(c: Context<ApiEnv>, error: unknown): boolean {
  return c.req.method === 'POST' && c.req.header('idempotency-key') !== undefined &&
    error instanceof ApiError && error.code === 'not_found'
}

/** An event type and an event have no endpoint: the scopes of a limited token decide about them. */
function isWithin(limits: TokenLimits, { endpointId, types }: Facts, room: string): boolean {
  const hasEndpoint = !['events', 'event-types'].includes(room)
  return (!hasEndpoint || includesEndpoint(limits, endpointId)) &&
    types.every((type) => includesType(limits, type))
}

/** Checks that the filter of a list, or the body of a change, is within the limits. */
async function checkRequest(
  c: Context<ApiEnv>,
  limits: TokenLimits,
  room: string,
  id: string | undefined,
): Promise<void> {
  const isCreated = id === undefined && c.req.method === 'POST'
  if (room === 'endpoints') {
    if (isCreated && limits.endpointIds !== null) throw outsideLimits('other endpoints')
    if (id === undefined && !isCreated) return refuseFilter(c)
    if (!isCreated && c.req.method !== 'PATCH') return
    const types = (await bodyOf(c)).eventTypes
    if (types === undefined && !isCreated) return
    const named = Array.isArray(types) && types.length > 0 ? types : [null]
    if (named.every((type) => includesType(limits, typeof type === 'string' ? type : null))) return
    throw nameOne('eventTypes', limits.eventTypes)
  }
  if (id !== undefined || room === 'event-types') return
  const given = isCreated ? await bodyOf(c) : c.req.query()
  const text = (value: unknown): string | null => typeof value === 'string' ? value : null
  const { endpointId, eventType, type } = given
  if (room !== 'events' && !includesEndpoint(limits, text(endpointId))) {
    throw nameOne('endpointId', limits.endpointIds)
  }
  if (!includesType(limits, text(room === 'events' ? type : eventType))) {
    throw nameOne(room === 'events' ? 'type' : 'eventType', limits.eventTypes)
  }
}

/**
 * Refuses a filter of the list of endpoints. The endpoints outside the limits are removed from a page
 * after it was read, so whether there is a next page would say which of them the filter finds.
 */
function refuseFilter(c: Context<ApiEnv>): void {
  const field = Object.keys(c.req.query()).find((name) => !['cursor', 'limit'].includes(name))
  if (field === undefined) return
  throw new ApiError('forbidden', 'The token is limited: it lists its endpoints without a filter', {
    field,
    remedy: `Leave ${field} out, or call with a secret key`,
  })
}

/** The body as an object; the route refuses what is not one. */
async function bodyOf(c: Context<ApiEnv>): Promise<Record<string, unknown>> {
  const body: unknown = await c.req.json().catch(() => null)
  // SAFETY: an object has string keys; the values are unknown.
  return typeof body === 'object' && body !== null ? body as Record<string, unknown> : {}
}

const page = z.looseObject({ data: z.array(z.looseObject({})) })

/** Removes what is outside the limits from a page of endpoints or event types. */
async function keepWithin(c: Context<ApiEnv>, limits: TokenLimits, room: string): Promise<void> {
  if (c.req.method !== 'GET' || !['endpoints', 'event-types'].includes(room)) return
  const { data, ...more } = page.parse(await c.res.json())
  const kept = data.filter((item) =>
    room === 'endpoints'
      ? isWithin(limits, { endpointId: String(item.id), types: asTexts(item.eventTypes) }, room)
      : includesType(limits, String(item.type))
  )
  c.res = new Response(JSON.stringify({ ...more, data: kept }), c.res)
}

function asTexts(value: unknown): (string | null)[] {
  return Array.isArray(value) ? typesOf({ eventTypes: value.map(String) }) : [null]
}

function outsideLimits(what: string): ApiError {
  return new ApiError('forbidden', `The token is limited and does not reach ${what}`, {
    remedy: 'Create a portal token without limits, or call with a secret key',
  })
}

function nameOne(field: string, limits: readonly string[] | null): ApiError {
  return new ApiError('forbidden', `The token is limited: ${field} must be within its limits`, {
    field,
    remedy: `Expected ${(limits ?? []).slice(0, 5).join(', ')}`,
  })
}
