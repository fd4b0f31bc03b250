import { Hono } from 'hono'
import { expect } from '@std/expect'
import type { z } from 'zod'
import type { ApiEnv } from '../../../functions/api/context.ts'
import { answerError } from '../../../functions/api/middleware/problem.ts'
import { rateLimited } from '../../../functions/api/middleware/rate_limit.ts'

type Limit = {
  now: number
  /** What the database grants at the next look, and the one after. */
  grants: { granted: number; retryAfterMs: number }[]
  asked: string[]
  ask(org?: string): Promise<{ status: number; retryAfter: string | null }>
}

function limit(): Limit {
  const app = new Hono<ApiEnv>()
  app.onError(answerError(() => {}))
  app.use(async (c, next) => {
    const orgId = c.req.header('x-org-id') ?? ''
    c.set('principal', { orgId, role: 'viewer', actor: 'user:ada', kind: 'user' })
    await next()
  })
  app.use(rateLimited({
    now: () => it.now,
    database: {
      call<Output>(
        _name: string,
        args: Record<string, unknown>,
        schema: z.ZodType<Output>,
      ): Promise<Output> {
        it.asked.push(String(args.p_org_id))
        return Promise.resolve(schema.parse(it.grants.shift() ?? { granted: 50, retryAfterMs: 0 }))
      },
    },
  }))
  app.get('/', (c) => c.text('ok'))
  const it: Limit = {
    now: 1_000,
    grants: [],
    asked: [],
    async ask(org = 'org-1'): ReturnType<Limit['ask']> {
      const answer = await app.request('/', { headers: { 'x-org-id': org } })
      await answer.body?.cancel()
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') }
    },
  }
  return it
}

const ok = { status: 200, retryAfter: null }

Deno.test('rateLimited() asks the database once for as many requests as it grants', async () => {
  const it = limit()
  it.grants = [{ granted: 3, retryAfterMs: 0 }]
  for (let n = 0; n < 3; n++) expect(await it.ask()).toEqual(ok)
  expect(it.asked).toEqual(['org-1'])
  expect(await it.ask()).toEqual(ok)
  expect(it.asked).toEqual(['org-1', 'org-1'])
  expect(await it.ask('org-2')).toEqual(ok)
  expect(it.asked).toEqual(['org-1', 'org-1', 'org-2'])
})

Deno.test('rateLimited() forgets after five seconds what it has not used', async () => {
  const it = limit()
  await it.ask()
  it.now += 4_999
  await it.ask()
  expect(it.asked).toHaveLength(1)
  it.now += 1
  await it.ask()
  expect(it.asked).toHaveLength(2)
})

Deno.test('rateLimited() answers 429 without asking again until there is something to grant', async () => {
  const it = limit()
  it.grants = [{ granted: 0, retryAfterMs: 1_500 }]
  expect(await it.ask()).toEqual({ status: 429, retryAfter: '2' })
  it.now += 1_499
  expect(await it.ask()).toEqual({ status: 429, retryAfter: '1' })
  expect(it.asked).toHaveLength(1)
  it.now += 1
  expect(await it.ask()).toEqual(ok)
  expect(it.asked).toHaveLength(2)
})
