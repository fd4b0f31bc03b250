import { z } from 'zod'
import type { MiddlewareHandler } from 'hono'
import type { Principal } from '../auth/principal.ts'
import type { ApiEnv } from '../context.ts'
import { loaders } from './object_facts.ts'
import { requireScope } from './access.ts'

/** The type of the events that carry messages; outbox.publish_message() publishes them. */
export const messageType = 'outhook.message'

/** The first words of paths of events and their deliveries. */
const rooms: readonly string[] = ['events', 'deliveries', 'dead-letters']

const item = z.looseObject({ type: z.string().optional(), eventType: z.string().nullish() })
const page = z.looseObject({ data: z.array(item) })

/** Whether replaying any delivery of the organisation is within the caller's scopes. */
export function maySendMessages({ scopes }: Principal): boolean {
  return scopes.has('messages:send')
}

/**
 * The event, the deliveries and the dead letters of a message belong to the message: reading them also
 * requires `messages:read`, and sending or ending them `messages:send` (403). Lists leave them out.
 */
export const messageRule: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const principal = c.get('principal')
  const [room = '', id] = c.req.path.replace(/^\/api\/v1\//, '').split('/')
  const needed = c.req.method === 'GET' || c.req.method === 'HEAD'
    ? 'messages:read'
    : 'messages:send'
  if (!rooms.includes(room) || principal.scopes.has(needed)) return await next()
  const loader = loaders[room]
  if (id === undefined) {
    await next()
    if (c.req.method !== 'GET' || !c.res.ok) return
    const { data, ...more } = page.parse(await c.res.json())
    const kept = data.filter(({ type, eventType }) => (type ?? eventType) !== messageType)
    c.res = new Response(JSON.stringify({ ...more, data: kept }), c.res)
    return
  }
  // The route refuses an id of another form.
  if (loader?.form.test(id) === true) {
    const { types } = await loader.load(c.get('database'), principal.orgId, id)
    if (types.includes(messageType)) return await requireScope(needed)(c, next)
  }
  await next()
}
