import { Hono } from 'hono'
import { expect } from '@std/expect'
import type { ApiEnv } from '../../../functions/api/context.ts'
import { apiDatabase } from '../../../functions/api/database.ts'
import { handleError } from '../../../functions/api/middleware/problem.ts'
import type { Revocations } from '../../../functions/api/auth/portal.ts'
import type { Principal } from '../../../functions/api/auth/principal.ts'
import { rateLimit } from '../../../functions/api/middleware/rate_limit.ts'

type Grant = { granted: number; retryAfterMs: number; portal?: Revocations }

const key: Principal = {
  kind: 'key',
  orgId: 'org-1',
  scopes: new Set(),
  actor: 'key:default',
  portal: null,
}

/** Requests of org-1 against a database that grants what the test says, at a time that it turns. */
function limiter(grants: Grant[], principal: Principal = key, charges: number[] = []): {
  time: { ms: number }
  asked: unknown[]
  statuses(count: number): Promise<number[]>
  retryAfter(): Promise<string | null>
} {
  const time = { ms: 1_000_000 }
  const asked: unknown[] = []
  const database = apiDatabase((_name, args) => {
    asked.push(args)
    const data = grants[asked.length - 1]
    if (data === undefined) throw new Error(`asked ${asked.length} times`)
    const portal = { generation: 0, revoked: [] }
    return Promise.resolve({ ok: true, data: { portal, maxInFlight: 8, ...data } })
  })
  const app = new Hono<ApiEnv>()
  app.onError(handleError(() => {}))
  app.use(async (c, next) => {
    c.set('requestId', 'r')
    c.set('principal', principal)
    await next()
  })
  app.use(rateLimit({ database, now: () => time.ms }))
  app.get('/', (c) => {
    c.get('charge')?.(charges.shift() ?? 0)
    return c.text('taken')
  })
  const get = async (): Promise<Response> => await app.request('/')
  return {
    time,
    asked,
    statuses: async (count) => {
      const answers: number[] = []
      for (let n = 0; n < count; n++) answers.push((await get()).status)
      return answers
    },
    retryAfter: async () => (await get()).headers.get('retry-after'),
  }
}

const granted = { granted: 50, retryAfterMs: 0 }
const taken = (count: number): number[] => Array(count).fill(200)

Deno.test('rateLimit() takes 50 requests with one lease, and asks for the next lease with the 51st', async () => {
  const { asked, statuses } = limiter([granted, granted])
  expect(await statuses(50)).toEqual(taken(50))
  expect(asked).toEqual([{ p_org_id: 'org-1', p_count: 50 }])
  expect(await statuses(1)).toEqual(taken(1))
  expect(asked.length).toBe(2)
})

Deno.test('rateLimit() counts a request as many as its work costs, and asks until the debt is paid', async () => {
  const { asked, statuses } = limiter([granted, granted, granted], key, [48, 60])
  expect(await statuses(1)).toEqual(taken(1))
  expect(asked.length).toBe(1)
  // The last one of the first lease owes 60, which the second lease does not cover.
  expect(await statuses(2)).toEqual(taken(2))
  expect(asked.length).toBe(3)
  expect(await statuses(38)).toEqual(taken(38))
  expect(asked.length).toBe(3)
})

Deno.test('rateLimit() refuses whoever owes more than the database grants, until it is paid', async () => {
  const grants = [granted, { granted: 0, retryAfterMs: 1000 }, granted]
  const { time, asked, statuses } = limiter(grants, key, [90])
  expect(await statuses(2)).toEqual([200, 429])
  expect(asked.length).toBe(2)
  time.ms += 1000
  // The lease of 50 pays 41; 9 are left of it.
  expect(await statuses(9)).toEqual(taken(9))
  expect(asked.length).toBe(3)
})

Deno.test('rateLimit() goes on with a lease that is 4,999 ms old, and asks anew at 5,000 ms', async () => {
  const { time, asked, statuses } = limiter([granted, granted])
  expect(await statuses(1)).toEqual(taken(1))
  time.ms += 4999
  expect(await statuses(1)).toEqual(taken(1))
  expect(asked.length).toBe(1)
  time.ms += 1
  expect(await statuses(1)).toEqual(taken(1))
  expect(asked.length).toBe(2)
})

Deno.test('rateLimit() answers 429 and asks nothing until the time is up that the database said, and then asks', async () => {
  const { time, asked, statuses, retryAfter } = limiter([
    { granted: 0, retryAfterMs: 1500 },
    granted,
  ])
  expect(await statuses(2)).toEqual([429, 429])
  expect(await retryAfter()).toBe('2')
  time.ms += 1499
  expect(await statuses(1)).toEqual([429])
  expect(await retryAfter()).toBe('1')
  expect(asked.length).toBe(1)
  time.ms += 1
  expect(await statuses(1)).toEqual([200])
  expect(asked.length).toBe(2)
})

Deno.test('rateLimit() asks once for requests that come while it asks', async () => {
  const { asked, statuses } = limiter([{ granted: 3, retryAfterMs: 0 }, {
    granted: 0,
    retryAfterMs: 1000,
  }])
  const answers = await Promise.all([statuses(1), statuses(1), statuses(1), statuses(1)])
  expect(answers.flat().sort()).toEqual([200, 200, 200, 429])
  expect(asked.length).toBe(2)
})

Deno.test('rateLimit() refuses a revoked portal token as soon as it asks the database again', async () => {
  const caller = (id: string, generation: number): Principal => ({
    ...key,
    kind: 'portal',
    portal: { id, generation, limits: null },
  })
  const revokedOne = { ...granted, portal: { generation: 2, revoked: ['id-1'] } }
  const rows: [Principal, number][] = [
    [caller('id-1', 2), 401],
    [caller('id-2', 1), 401],
    [caller('id-2', 2), 200],
    [caller('id-2', 3), 200],
    [key, 200],
  ]
  for (const [principal, status] of rows) {
    expect([principal.portal, ...await limiter([revokedOne], principal).statuses(1)])
      .toEqual([principal.portal, status])
  }
  const { time, statuses } = limiter([granted, revokedOne], caller('id-1', 2))
  expect(await statuses(1)).toEqual([200])
  time.ms += 4999
  expect(await statuses(1)).toEqual([200])
  time.ms += 1
  expect(await statuses(1)).toEqual([401])
})
