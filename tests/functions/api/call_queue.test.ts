import { expect } from '@std/expect'
import { z } from 'zod'
import { createCallQueues } from '../../../functions/api/call_queue.ts'
import type { ApiDatabase } from '../../../functions/api/database.ts'
import { ApiError } from '../../../functions/api/errors.ts'
import { apiAlone } from '../../_support/api_alone.ts'

type Held = { orgId: string | undefined; end(): void; fail(): void }

/** A database whose calls end when the test says so, behind queues with a clock that the test turns. */
function heldCalls(): {
  time: { ms: number }
  held: Held[]
  /** Handles a request that makes so many calls at once; resolves with how each ended. */
  request(key: string, most: number, calls?: number): Promise<string[]>
} {
  const time = { ms: 0 }
  const held: Held[] = []
  const database: ApiDatabase = {
    call: (_name, args, schema) =>
      new Promise((resolve, reject) => {
        const orgId = 'p_org_id' in args ? String(args.p_org_id) : undefined
        const end = (): void => resolve(schema.parse({}))
        held.push({ orgId, end, fail: () => reject(new ApiError('unavailable', 'x')) })
      }),
  }
  const inQueue = createCallQueues(database, () => time.ms)

  async function request(key: string, most: number, calls = 1): Promise<string[]> {
    let outcomes: string[] = []
    await inQueue(key, most, async (queued) => {
      const one = (): Promise<string> =>
        queued.call('list_templates', { p_org_id: key }, z.object({}))
          .then(() => 'made', ({ code, headers }) => `${code} ${headers['retry-after'] ?? ''}`)
      outcomes = await Promise.all(Array.from({ length: calls }, one))
    })
    return outcomes
  }

  return { time, held, request }
}

/** Until all that needs no further event has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

Deno.test('a key has as many calls in flight as its limit, and the others in order', async () => {
  const { held, request } = heldCalls()
  const handled = request('org-1', 2, 4)
  await settled()
  expect(held.length).toBe(2)
  held[0]?.end()
  await settled()
  expect(held.length).toBe(3)
  // A call that fails makes room too.
  held[1]?.fail()
  await settled()
  expect(held.length).toBe(4)
  held[2]?.end()
  held[3]?.end()
  expect(await handled).toEqual(['made', 'unavailable ', 'made', 'made'])
})

Deno.test('requests of one key share its limit, and another key waits for none of them', async () => {
  const { held, request } = heldCalls()
  const requests = [request('org-1', 1), request('org-1', 1), request('org-2', 1)]
  await settled()
  expect(held.map(({ orgId }) => orgId)).toEqual(['org-1', 'org-2'])
  held.forEach(({ end }) => end())
  await settled()
  expect(held.map(({ orgId }) => orgId)).toEqual(['org-1', 'org-2', 'org-1'])
  held.forEach(({ end }) => end())
  expect((await Promise.all(requests)).flat()).toEqual(['made', 'made', 'made'])
})

Deno.test('a higher limit starts calls that wait', async () => {
  const { held, request } = heldCalls()
  const requests = [request('org-1', 1, 2), request('org-1', 4, 2)]
  await settled()
  expect(held.length).toBe(4)
  held.forEach(({ end }) => end())
  await Promise.all(requests)
})

Deno.test('a request whose first call has waited for 5 s is refused, and the next one is made at once', async () => {
  const { time, held, request } = heldCalls()
  const first = request('org-1', 1)
  const late = [request('org-1', 1), request('org-1', 1)]
  time.ms = 1
  const inTime = request('org-1', 1)
  await settled()
  time.ms = 5000
  held[0]?.end()
  await settled()
  expect(held.length).toBe(2)
  held[1]?.end()
  expect(await Promise.all([first, ...late, inTime])).toEqual([
    ['made'],
    ['rate_limited 1'],
    ['rate_limited 1'],
    ['made'],
  ])
})

Deno.test('a request is not refused after its first call: what it has done would be unknown', async () => {
  const { time, held, request } = heldCalls()
  const handled = request('org-1', 1, 2)
  await settled()
  time.ms = 60_000
  held[0]?.end()
  await settled()
  held[1]?.end()
  expect(await handled).toEqual(['made', 'made'])
})

/** Routes of each kind: with the organisation as an argument of the call, and without. */
const calls: readonly (readonly [string, unknown?])[] = [
  ['templates'],
  ['settings'],
  ['endpoints'],
  ['event-types'],
  ['deliveries'],
  ['dead-letters'],
  ['health'],
  ['sagas'],
  ['sagas/place_order', { quantity: 1 }],
  ['retry-config/preview', { strategy: 'schedule', delays: [1], maxRetries: 1 }],
  ['events', { type: 'a', payload: {} }],
]

Deno.test('routes make their calls within the limit, also without the organisation as an argument, and name the caller', async () => {
  let inFlight = 0
  let most = 0
  const actors = new Map<string, unknown>()
  const app = apiAlone({
    maxInFlight: 2,
    checked: false,
    result: async (name, _args, _traceparent, actor) => {
      actors.set(name, actor)
      most = Math.max(most, ++inFlight)
      await settled()
      inFlight--
      return { ids: [] }
    },
  })
  await Promise.all(calls.map(([path, body]) =>
    app.request(`/api/v1/${path}`, {
      ...body === undefined ? {} : {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      },
    })
  ))
  expect(most).toBe(2)
  expect([...actors.keys()].toSorted()).toEqual([
    'execute_org_saga',
    'get_health',
    'list_dead_letters',
    'list_deliveries',
    'list_event_types',
    'list_org_endpoints',
    'list_org_settings',
    'list_sagas',
    'list_templates',
    'preview_retry_config',
    'publish_events',
  ])
  expect(new Set(actors.values())).toEqual(new Set(['key:default']))
})

Deno.test('requests with tokens take no place of those with a secret key', async () => {
  const ends: (() => void)[] = []
  let isKey = false
  const app = apiAlone({
    maxInFlight: 1,
    checked: false,
    result: () => new Promise((resolve) => ends.push(() => resolve([]))),
    deps: {
      authenticate: () =>
        Promise.resolve({
          kind: isKey ? 'key' : 'user',
          orgId: 'org-1',
          scopes: new Set(['messages:read']),
          actor: 'x',
          portal: null,
        }),
    },
  })
  const token = app.request('/api/v1/templates')
  await settled()
  isKey = true
  const key = app.request('/api/v1/templates')
  await settled()
  expect(ends.length).toBe(2)
  ends.forEach((end) => end())
  expect([(await token).status, (await key).status]).toEqual([200, 200])
})
