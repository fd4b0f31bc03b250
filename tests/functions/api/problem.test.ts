import { expect } from '@std/expect'
import { Hono } from 'hono'
import { z } from 'zod'
import type { Principal } from '../../../functions/api/auth/principal.ts'
import type { ApiEnv } from '../../../functions/api/context.ts'
import { ApiError } from '../../../functions/api/errors.ts'
import { handleError, readIssues } from '../../../functions/api/middleware/problem.ts'

const policy = z.strictObject({ baseDelay: z.number(), maxRetries: z.number().optional() })

function refusal(body: unknown): { message: string; field: string | undefined } {
  const { message, field } = readIssues(policy.safeParse(body).error?.issues ?? [], 'json')
  return { message, field }
}

Deno.test('readIssues() says that a member is missing when it is', () => {
  expect(refusal({})).toEqual({ message: 'baseDelay is missing', field: 'baseDelay' })
})

Deno.test('readIssues() names a misspelt member before the missing one', () => {
  expect(refusal({ base_delay: 1 })).toEqual({
    message: 'base_delay is unknown',
    field: 'base_delay',
  })
})

Deno.test('readIssues() keeps what zod says of a value of the wrong type', () => {
  expect(refusal({ baseDelay: 'soon' })).toEqual({
    message: 'baseDelay: Invalid input: expected number, received string',
    field: 'baseDelay',
  })
})

const secretKey: Principal = {
  kind: 'key',
  orgId: 'org-1',
  scopes: new Set(),
  actor: 'key:default',
  portal: null,
}

/** What a caller gets for an error, and what is logged. */
async function responseFor(error: ApiError, principal: Principal): Promise<[unknown, string[]]> {
  const lines: string[] = []
  const app = new Hono<ApiEnv>()
  app.onError(
    handleError((_level, message, fields) => lines.push(JSON.stringify({ message, ...fields }))),
  )
  app.get('/', (c) => {
    c.set('requestId', 'r')
    c.set('principal', principal)
    throw error
  })
  return [await (await app.request('/')).json(), lines]
}

Deno.test("a saga's own error goes to a secret key and to the log, and not to a token", async () => {
  const saga = {
    name: 'pay',
    step: 2,
    function: 'shop.take',
    cause: 'account 77',
    sqlState: '23514',
  }
  const error = new ApiError('saga_failed', 'saga pay failed at step 2, shop.take: account 77', {
    saga,
    remedy: 'select * from shop.account',
  })
  const [full, logged] = await responseFor(error, secretKey)
  expect(full).toMatchObject({ detail: error.message, saga })
  expect(logged).toEqual([JSON.stringify({ message: 'saga failed', request: 'r', ...saga })])
  const [bare, lines] = await responseFor(error, { ...secretKey, kind: 'portal' })
  expect(bare).toEqual({
    type: 'about:blank',
    title: 'The saga failed',
    status: 422,
    code: 'saga_failed',
    detail: 'Step 2 of pay failed',
    remedy: 'Ask the operator, who finds the error in the log',
    requestId: 'r',
  })
  expect(lines).toEqual(logged)
})

Deno.test("the error of a saga's deferred trigger goes to the log, and not to a token either", async () => {
  const error = new ApiError('saga_failed', 'saga pay failed after its last step: account 77')
  const [bare, lines] = await responseFor(error, { ...secretKey, kind: 'portal' })
  expect(bare).toMatchObject({ code: 'saga_failed', detail: 'The saga failed after its last step' })
  expect(JSON.stringify(bare)).not.toContain('77')
  expect(lines).toEqual([
    JSON.stringify({ message: 'saga failed', request: 'r', error: error.message }),
  ])
})

Deno.test('a token gets no remedy in SQL, and keeps the others', async () => {
  const remedies: [string, boolean][] = [
    ['select * from outbox.saga lists the sagas', false],
    ['Create it with define_saga()', false],
    ['Pass p_overlap => 0', false],
    ['Expected 1 to 64 letters', true],
    ['Send the request again after 1 s', true],
  ]
  for (const [remedy, isKept] of remedies) {
    const error = new ApiError('not_found', 'It does not exist', { remedy, field: 'name' })
    const [forKey] = await responseFor(error, secretKey)
    expect(forKey).toMatchObject({ remedy })
    const [forToken] = await responseFor(error, { ...secretKey, kind: 'user' })
    expect(forToken).toMatchObject({
      code: 'not_found',
      detail: 'It does not exist',
      field: 'name',
    })
    // SAFETY: a problem is an object, as the line above asserts.
    expect([remedy, Object.hasOwn(forToken as object, 'remedy')]).toEqual([remedy, isKept])
  }
})
