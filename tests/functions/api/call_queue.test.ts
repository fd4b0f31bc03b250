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
  queues: ReturnType<typeof createCallQueues>
  /** Calls for an organisation; true if the call succeeded. */
  call(orgId?: string): Promise<boolean>
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
  const queues = createCallQueues(database, () => time.ms)
  const call = (orgId?: string): Promise<boolean> =>
    (orgId === undefined
      ? queues.database.call('count_requests', { p_requests: [] }, z.object({}))
      : queues.database.call('list_templates', { p_org_id: orgId }, z.object({}))).then(
        () => true,
        () => false,
      )
  return { time, held, queues, call }
}

/** Until all that needs no further event has happened. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

Deno.test('an organisation makes as many calls at once as its limit, and the others in order', async () => {
  const { held, queues, call } = heldCalls()
  const done: number[] = []
  const handled = queues.during('org-1', 2, async () => {
    await Promise.all([1, 2, 3, 4].map(async (n) => done.push(await call('org-1') ? n : -n)))
  })
  await settled()
  expect(held.length).toBe(2)
  held[0]?.end()
  await settled()
  expect([held.length, done]).toEqual([3, [1]])
  // A call that fails makes room too.
  held[1]?.fail()
  await settled()
  expect([held.length, done]).toEqual([4, [1, -2]])
  held[2]?.end()
  held[3]?.end()
  await handled
  expect(done).toEqual([1, -2, 3, 4])
})

Deno.test('requests of one organisation share its limit, and another organisation waits for none of them', async () => {
  const { held, queues, call } = heldCalls()
  const request = (orgId: string): Promise<void> =>
    queues.during(orgId, 1, async () => {
      await call(orgId)
    })
  const requests = [request('org-1'), request('org-1'), request('org-2')]
  await settled()
  expect(held.map(({ orgId }) => orgId)).toEqual(['org-1', 'org-2'])
  held.forEach(({ end }) => end())
  await settled()
  expect(held.map(({ orgId }) => orgId)).toEqual(['org-1', 'org-2', 'org-1'])
  held.forEach(({ end }) => end())
  await Promise.all(requests)
})

Deno.test('a higher limit starts calls that wait', async () => {
  const { held, queues, call } = heldCalls()
  const calls = (most: number): Promise<void> =>
    queues.during('org-1', most, async () => {
      await Promise.all([call('org-1'), call('org-1')])
    })
  const requests = [calls(1), calls(4)]
  await settled()
  expect(held.length).toBe(4)
  held.forEach(({ end }) => end())
  await Promise.all(requests)
})

Deno.test('calls without an organisation, and those outside of a request, do not wait', async () => {
  const { held, queues, call } = heldCalls()
  const handled = queues.during('org-1', 1, async () => {
    await Promise.all([call('org-1'), call(), call(), call('org-2'), call('org-2')])
  })
  await settled()
  expect(held.length).toBe(5)
  held.forEach(({ end }) => end())
  await handled
})

Deno.test('a request is refused once the first call has waited for 5 s, and accepted when it has been made', async () => {
  const { time, held, queues, call } = heldCalls()
  const request = (): Promise<string> =>
    queues.during('org-1', 1, async () => {
      await call('org-1')
    }).then(() => 'handled', ({ code, headers }) => `${code} ${headers['retry-after']}`)
  const first = [request(), request()]
  time.ms = 4999
  const third = request()
  time.ms = 5000
  expect(await request()).toBe('rate_limited 1')
  held[0]?.end()
  await settled()
  const fourth = request()
  for (const n of [1, 2, 3]) {
    held[n]?.end()
    await settled()
  }
  expect(await Promise.all([...first, third, fourth])).toEqual(Array(4).fill('handled'))
  expect(held.length).toBe(4)
})

Deno.test('an organisation without open requests leaves nothing behind', async () => {
  const { held, queues, call } = heldCalls()
  await queues.during('org-1', 1, () => Promise.resolve())
  const late = [call('org-1'), call('org-1')]
  await settled()
  expect(held.length).toBe(2)
  held.forEach(({ end }) => end())
  expect(await Promise.all(late)).toEqual([true, true])
})

Deno.test('each route of the API makes its calls within the limit of its organisation', async () => {
  let inFlight = 0
  let most = 0
  let calls = 0
  const app = apiAlone({
    maxInFlight: 2,
    checked: false,
    result: async () => {
      most = Math.max(most, ++inFlight)
      calls++
      await settled()
      inFlight--
      return []
    },
  })
  const paths = ['templates', 'settings', 'endpoints', 'event-types', 'deliveries', 'dead-letters']
  await Promise.all(paths.map((path) => app.request(`/api/v1/${path}`)))
  expect([most, calls >= paths.length]).toEqual([2, true])
})
