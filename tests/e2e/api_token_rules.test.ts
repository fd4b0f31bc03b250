/**
 * The rules of tokens that depend on an object, tried with every operation: the endpoints of an operator,
 * and the limits of a portal token. The operations are those of the description, so that a new one is here.
 */

import { expect } from '@std/expect'
import { canLimit, type TokenLimits } from '../../functions/api/auth/token_limits.ts'
import { signPortalToken } from '../../functions/api/auth/portal.ts'
import { allScopes, isScope } from '../../functions/api/auth/scopes.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startApi, type TestApi } from '../_support/api_app.ts'
import { makeTenants, type Tenants, visitor } from '../_support/tenants.ts'
import { calls } from './isolation/calls.ts'
import { type Operation, operations, type Shot, shotsOf } from './isolation/walk.ts'

let api: TestApi
let tenants: Tenants
let all: Operation[]

Deno.test.beforeAll(async () => {
  api = await startApi({ cronAlone: true })
  tenants = await makeTenants(api.outhook, projectRoot)
  all = operations(api.app).all.filter(({ isOpen }) => !isOpen)
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

/** The endpoints of the calls. */
const words = ['endpoint', 'open', 'ended', 'parked']

/** The calls of an operation with the caller's own things; `as` may name others. */
function ownShots(operation: Operation, as: Record<string, string> = {}): Shot[] {
  const things: Tenants = { ...tenants, thing: (org, word) => tenants.thing(org, as[word] ?? word) }
  return (calls[operation.operationId] ?? [])
    .flatMap((call) => shotsOf(operation, call, things))
    .filter(({ foreign }) => foreign.length === 0)
}

async function send(
  { operation, path, headers, body }: Shot,
  token: string,
): Promise<{ status: number; text: string }> {
  const response = await api.app.request(path, {
    method: operation.method,
    headers: { 'content-type': 'application/json', ...headers, authorization: `Bearer ${token}` },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
  return { status: response.status, text: await response.text() }
}

/** All that the organisation has, without what its requests have left of its rate. */
async function belongings(): Promise<string> {
  const text = await tenants.belongings(visitor)
  return text.replace(/(== outbox\.request_bucket)[\s\S]*?(?=== |$)/, '$1')
}

function told({ operation, path }: Shot, status: number, text: string): string {
  return `${operation.operationId} ${path}: ${status} ${text.slice(0, 200)}`
}

async function limitedTo(limits: TokenLimits): Promise<string> {
  return await signPortalToken({
    ...{ orgId: visitor, generation: 0, limits, subject: 'limited', id: crypto.randomUUID() },
    scopes: allScopes.filter((scope) => canLimit(scope, limits)),
    issuedAt: Math.floor(Date.now() / 1000),
    lifeSeconds: 600,
  }, api.outhook.stack.keys.portalSecret)
}

Deno.test('a token reads an endpoint of an operator, and neither changes it nor sees its secret', async () => {
  const token = await api.token(visitor, ['all'])
  const as = Object.fromEntries(words.map((word) => [word, 'broker']))
  const those = all.filter(({ path }) => path.startsWith('/api/v1/endpoints/{endpointId}'))
    .flatMap((operation) => ownShots(operation, as))
  expect(those.length).toBeGreaterThanOrEqual(15)
  const before = await belongings()
  const wrong: string[] = []
  for (const shot of those) {
    const { status, text } = await send(shot, token)
    const { method, scope } = shot.operation
    const mayRead = method === 'GET' && scope !== 'secrets:read'
    const isRight = mayRead ? status === shot.expected : status === 403 &&
      text.includes('An endpoint of the kind kafka is changed with a secret key only')
    if (!isRight) wrong.push(told(shot, status, text))
  }
  expect(wrong).toEqual([])
  expect(await belongings()).toBe(before)
  const response = await api.app.request(`/api/v1/endpoints/${tenants.thing(visitor, 'broker')}`, {
    method: 'PATCH',
    headers: {
      'content-type': 'application/json',
      ...{ apikey: api.outhook.stack.keys.secretKey, 'x-org-id': visitor },
    },
    body: JSON.stringify({ description: 'changed with the secret key' }),
  })
  expect(response.status).toBe(200)
})

/** What a limit leaves as it is, because it names nothing that the limit is about. */
const free = ['getSession', 'previewRetryConfig']

const rows: [limit: string, limits: () => TokenLimits, more: Record<string, string[]>][] = [
  [
    'to another endpoint',
    () => ({ endpointIds: [tenants.thing(visitor, 'slack')], eventTypes: null }),
    // An event type belongs to no endpoint.
    { open: ['getEventType', 'listEventTypes'], pages: ['listEndpoints'] },
  ],
  [
    'to other event types',
    () => ({ endpointIds: null, eventTypes: ['nobody.*'] }),
    { open: [], pages: ['listEndpoints', 'listEventTypes'] },
  ],
]

for (const [limit, limits, { open = [], pages = [] }] of rows) {
  Deno.test(`a token that is limited ${limit} reaches nothing by any operation`, async () => {
    const token = await limitedTo(limits())
    const outside = [...words.map((word) => tenants.thing(visitor, word)), 'visitors.type']
    const before = await belongings()
    const wrong: string[] = []
    let refused = 0
    for (const shot of all.flatMap((operation) => ownShots(operation))) {
      const { status, text } = await send(shot, token)
      const { operationId, scope } = shot.operation
      if (free.includes(operationId) || open.includes(operationId)) {
        if (status !== 200) wrong.push(told(shot, status, text))
      } else if (pages.includes(operationId) && status === 200) {
        if (outside.some((one) => text.includes(one))) wrong.push(told(shot, status, text))
      } else {
        // The refusal is of the limit, not of a scope that the token could have.
        const isOfScope = text.includes('does not have the scope')
        const couldHave = isScope(scope) && canLimit(scope, limits())
        if (![403, 404].includes(status) || isOfScope && couldHave) {
          wrong.push(told(shot, status, text))
        }
        if (couldHave) refused++
      }
    }
    expect(wrong).toEqual([])
    expect(refused).toBeGreaterThan(40)
    expect(await belongings()).toBe(before)
  })
}

Deno.test('a token whose limits include the objects of a path reads them as one without limits', async () => {
  const own = words.map((word) => tenants.thing(visitor, word))
  const token = await limitedTo({ endpointIds: own, eventTypes: null })
  const inPath = /^\/api\/v1\/(endpoints|deliveries|dead-letters)\/\{/
  const those = all.filter(({ method, path }) => method === 'GET' && inPath.test(path))
    .flatMap((operation) => ownShots(operation))
  expect(those.length).toBeGreaterThanOrEqual(8)
  for (const shot of those) {
    const { status, text } = await send(shot, token)
    expect(told(shot, status, text)).toBe(told(shot, shot.expected, text))
  }
})
