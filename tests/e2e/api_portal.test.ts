/** Portal tokens through the API: their scopes, their limits and their revocation. */

import { expect } from '@std/expect'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'

/** What a page for a customer needs, written out: a scope too many gives every such page a right. */
const ofCustomerPage = [
  'deliveries:read',
  'deliveries:replay',
  'endpoints:read',
  'endpoints:write',
  'event-types:read',
  'events:read',
  'secrets:read',
  'secrets:write',
]

let outhook: TestOuthook
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver', 'api'] })
  call = apiCaller(outhook)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

const inOrg = (org: string): { headers: Record<string, string> } => ({
  headers: { 'x-org-id': org },
})

async function createToken(org: string, body: Record<string, unknown> = {}): Promise<ApiAnswer> {
  return await call('POST /portal-tokens', { ...inOrg(org), body })
}

async function createEndpoint(org: string, eventTypes: string[], kind = {}): Promise<string> {
  const url = `${outhook.receiver.url}/hooks/${crypto.randomUUID()}`
  const made = await call('POST /endpoints', { ...inOrg(org), body: { url, eventTypes, ...kind } })
  expect(made).toMatchObject({ status: 201 })
  return made.body.id
}

/** Publishes an event and returns its id after its deliveries were created. */
async function publish(org: string, type: string, deliveries: number): Promise<string> {
  const { body: { id } } = await call('POST /events', {
    ...inOrg(org),
    body: { type, payload: { n: 1 } },
  })
  const isRouted = async (): Promise<boolean> => {
    const { body } = await call(`GET /deliveries?eventType=${type}`, inOrg(org))
    return body.data.filter(({ eventId }: { eventId: string }) => eventId === id).length ===
      deliveries
  }
  expect(await waitUntil(isRouted, { timeoutMs: patienceMs })).toBe(true)
  return id
}

Deno.test('a portal token has the scopes of a customer page unless others are named', async () => {
  const org = 'org-portal'
  const own = await createEndpoint(org, ['order.*'])
  const other = await createEndpoint('org-other', ['order.*'])
  const made = await createToken(org)
  expect(made).toMatchObject({
    status: 201,
    body: { orgId: org, scopes: ofCustomerPage, endpointIds: null, eventTypes: null },
  })
  const { token } = made.body
  const rows: [string, ApiCall, number][] = [
    ['GET /endpoints', {}, 200],
    [`GET /endpoints/${other}`, {}, 404],
    ['GET /endpoints', { headers: { 'x-org-id': 'default' } }, 403],
    [`PATCH /endpoints/${own}`, { body: { description: 'mine' } }, 200],
    [`POST /endpoints/${own}/pause`, { body: {} }, 200],
    [`GET /endpoints/${own}/secret`, {}, 200],
    ['GET /event-types', {}, 200],
    ['GET /events', {}, 200],
    ['GET /deliveries', {}, 200],
    ['POST /events', { body: { type: 'order.paid', payload: {} } }, 403],
    ['POST /sagas/any', { body: {} }, 403],
    ['GET /opt-outs', {}, 403],
    ['GET /outbound/messages', {}, 403],
    ['GET /audit-events?entityType=DOSSIER&entityId=1', {}, 403],
    ['POST /portal-tokens', { body: {} }, 403],
    ['DELETE /portal-tokens', {}, 403],
  ]
  for (const [request, more, status] of rows) {
    const response = await call(request, { ...more, token })
    expect([request, response.status]).toEqual([request, status])
  }
  expect((await call('POST /events', { token, body: { type: 'a.b', payload: {} } })).body)
    .toMatchObject({
      code: 'forbidden',
      detail: 'The token does not have the scope events:publish',
      remedy:
        'Create a portal token whose scopes contain events:publish, or call with a secret key',
    })
})

Deno.test('a repeat with the same Idempotency-Key returns the same portal token', async () => {
  const headers = { 'x-org-id': 'org-repeat', 'idempotency-key': 'once' }
  const body = { scopes: ['events:read'] }
  const first = await call('POST /portal-tokens', { headers, body })
  expect(first.status).toBe(201)
  expect((await call('POST /portal-tokens', { headers, body })).body).toEqual(first.body)
  expect(await call('POST /portal-tokens', { headers, body: {} }))
    .toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
})

Deno.test('a token that may not read secrets gets none by repeating the creation of another caller', async () => {
  const headers = { 'x-org-id': 'org-repeated', 'idempotency-key': 'endpoint-1' }
  const body = { url: 'https://example.com/hook' }
  const made = await call('POST /endpoints', { headers, body })
  expect(made.body.secret).toMatch(/^whsec_/)
  const { body: { token } } = await createToken('org-repeated', { scopes: ['endpoints:write'] })
  const repeat = await call('POST /endpoints', { headers, body, token })
  expect(repeat).toMatchObject({ status: 201, body: { id: made.body.id } })
  expect(repeat.body).not.toHaveProperty('secret')
  expect((await call('POST /endpoints', { headers, body })).body).toEqual(made.body)
})

Deno.test('the organisation of the operational events gets no portal token', async () => {
  expect(await createToken('outhook', {})).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', detail: "orgId is outhook, which is the system's own" },
  })
})

Deno.test('POST /portal-tokens refuses scopes that do not exist, exceed the caller or cannot be limited', async () => {
  const id = await createEndpoint('org-scopes', ['a.*'])
  const rows: [Record<string, unknown>, string][] = [
    [{ scopes: ['root'] }, 'scopes.0'],
    [{ scopes: ['portal-tokens:write'] }, 'scopes.0'],
    [{ scopes: [] }, 'scopes'],
    [{ endpointIds: [] }, 'endpointIds'],
    [{ endpointIds: ['x'] }, 'endpointIds.0'],
    [{ eventTypes: ['a.**'] }, 'eventTypes.0'],
    [{ endpointIds: [id], scopes: ['events:read'] }, 'scopes'],
    [{ eventTypes: ['a.*'], scopes: ['events:publish'] }, 'scopes'],
    [{ eventTypes: ['a.*'], scopes: ['messages:read'] }, 'scopes'],
  ]
  for (const [body, field] of rows) {
    expect([body, await createToken('org-scopes', body)])
      .toMatchObject([body, { status: 400, body: { code: 'invalid_argument', field } }])
  }
  const token = await outhook.stack.keys.signUserJwt({
    iss: `${new URL(outhook.stack.apiUrl).origin}/auth/v1`,
    app_metadata: { org_id: 'org-scopes', outhook_scopes: ['portal-tokens:write', 'events:read'] },
  })
  expect(await call('POST /portal-tokens', { token, body: { scopes: ['secrets:read'] } }))
    .toMatchObject({ status: 403, body: { field: 'scopes' } })
  expect(await call('POST /portal-tokens', { token, body: {} }))
    .toMatchObject({ status: 201, body: { scopes: ['events:read'] } })
})

Deno.test('a token that is limited to an endpoint reaches that endpoint and its deliveries alone', async () => {
  const org = 'org-endpoint'
  const own = await createEndpoint(org, ['a.*'])
  const other = await createEndpoint(org, ['a.*'])
  const event = await publish(org, 'a.b', 2)
  const { body: { token, scopes } } = await createToken(org, { endpointIds: [own] })
  expect(scopes).not.toContain('events:read')
  const listed = await call('GET /endpoints', { token })
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([own])
  const rows: [string, ApiCall, number][] = [
    // A page of one row would say by its next cursor what a filter finds outside the limits.
    [`GET /endpoints?limit=1&search=${outhook.receiver.url}`, {}, 403],
    ['GET /endpoints?limit=1&%73earch=h', {}, 403],
    ['GET /endpoints?limit=1&status=paused', {}, 403],
    ['GET /endpoints?limit=1', {}, 200],
    [`GET /endpoints/${own}`, {}, 200],
    [`GET /endpoints/${other}`, {}, 404],
    [`PATCH /endpoints/${other}`, { body: { description: 'x' } }, 404],
    [`POST /endpoints/${other}/pause`, { body: {} }, 404],
    [`GET /endpoints/${other}/secret`, {}, 404],
    [`GET /endpoints/${other}/stats`, {}, 404],
    [`DELETE /endpoints/${other}`, {}, 404],
    ['POST /endpoints', { body: { url: 'https://example.com' } }, 403],
    ['GET /deliveries', {}, 403],
    [`GET /deliveries?endpointId=${other}`, {}, 403],
    [`GET /deliveries?endpointId=${own}`, {}, 200],
    [`GET /deliveries/${event}.${own}`, {}, 200],
    [`GET /deliveries/${event}.${other}`, {}, 404],
    [`GET /deliveries/${event}.${other}/attempts`, {}, 404],
    [`POST /deliveries/${event}.${other}/replay`, {}, 404],
    ['GET /dead-letters', {}, 403],
    ['POST /replay-jobs', { body: {} }, 403],
    ['POST /replay-jobs', { body: { endpointId: own } }, 201],
    ['POST /replay-jobs/preview', { body: {} }, 403],
    ['POST /replay-jobs/preview', { body: { endpointId: other } }, 403],
    ['POST /replay-jobs/preview', { body: { endpointId: own } }, 200],
    ['GET /overview', {}, 403],
    ['GET /attempts', {}, 403],
    ['GET /runs', {}, 403],
    ['GET /replay-jobs', {}, 403],
    ['GET /event-types', {}, 200],
    ['GET /event-catalogue', {}, 403],
    [`GET /events/${event}`, {}, 403],
    ['GET /health', {}, 403],
  ]
  for (const [request, more, status] of rows) {
    const response = await call(request, { ...more, token })
    expect([request, response.status]).toEqual([request, status])
  }
})

Deno.test('a token that is limited to event types sees and chooses no others', async () => {
  const org = 'org-types'
  const own = await createEndpoint(org, ['a.*'])
  const wide = await createEndpoint(org, ['a.*', 'b.c'])
  // It gets what is addressed to it, of any type.
  const addressed = await createEndpoint(org, [])
  const [seen, hidden] = [await publish(org, 'a.b', 2), await publish(org, 'b.c', 1)]
  const { body: { token } } = await createToken(org, { eventTypes: ['a.*'] })
  const listed = await call('GET /endpoints', { token })
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([own])
  const url = `${outhook.receiver.url}/hooks/types`
  const rows: [string, ApiCall, number][] = [
    ['GET /endpoints?limit=1&search=h', {}, 403],
    [`GET /endpoints/${wide}`, {}, 404],
    [`GET /endpoints/${addressed}`, {}, 404],
    [`GET /endpoints/${addressed}/secret`, {}, 404],
    [`DELETE /endpoints/${addressed}`, {}, 404],
    [`PATCH /endpoints/${own}`, { body: { eventTypes: ['a.b'] } }, 200],
    [`PATCH /endpoints/${own}`, { body: { eventTypes: ['b.c'] } }, 403],
    [`PATCH /endpoints/${own}`, { body: { eventTypes: ['*'] } }, 403],
    ['POST /endpoints', { body: { url, eventTypes: ['a.b.c', 'a.d.*'] } }, 201],
    ['POST /endpoints', { body: { url, eventTypes: ['a.b', 'b.c'] } }, 403],
    ['POST /endpoints', { body: { url, eventTypes: ['ab.*'] } }, 403],
    ['POST /endpoints', { body: { url } }, 403],
    ['GET /events', {}, 403],
    ['GET /events?type=a.b', {}, 200],
    ['GET /events?type=b.c', {}, 403],
    [`GET /events/${seen}`, {}, 200],
    [`GET /events/${hidden}`, {}, 404],
    ['GET /deliveries?eventType=a.b', {}, 200],
    ['GET /deliveries?eventType=b.c', {}, 403],
    [`GET /deliveries/${hidden}.${wide}`, {}, 404],
    ['GET /event-types/b.c', {}, 404],
  ]
  for (const [request, more, status] of rows) {
    const response = await call(request, { ...more, token })
    expect([request, more.body, response.status]).toEqual([request, more.body, status])
  }
})

Deno.test('a token raises the share of an endpoint up to limit.token_share only', async () => {
  const org = 'org-share'
  const id = await createEndpoint(org, ['a.*'])
  const { body: { token } } = await createToken(org)
  const url = `${outhook.receiver.url}/hooks/share`
  const rows: [string, ApiCall, number][] = [
    [`PATCH /endpoints/${id}`, { body: { maxInFlight: 100, quantum: 100 }, token }, 200],
    [`PATCH /endpoints/${id}`, { body: { maxInFlight: 101 }, token }, 409],
    [`PATCH /endpoints/${id}`, { body: { quantum: 101 }, token }, 409],
    ['POST /endpoints', { body: { url, maxInFlight: 101 }, token }, 409],
    ['POST /endpoints', { body: { url, quantum: 101 }, token }, 409],
    ['POST /endpoints', { body: { url, quantum: 100 }, token }, 201],
    [`PATCH /endpoints/${id}`, { body: { maxInFlight: 500, quantum: 300 }, ...inOrg(org) }, 200],
    // What a secret key has set stays, and may become less.
    [`PATCH /endpoints/${id}`, { body: { maxInFlight: 500, quantum: 300 }, token }, 200],
    [`PATCH /endpoints/${id}`, { body: { maxInFlight: 400 }, token }, 200],
    [`PATCH /endpoints/${id}`, { body: { maxInFlight: 401 }, token }, 409],
  ]
  for (const [request, more, status] of rows) {
    const response = await call(request, more)
    expect([request, more.body, response.status]).toEqual([request, more.body, status])
  }
  expect((await call(`PATCH /endpoints/${id}`, { body: { quantum: 301 }, token })).body)
    .toMatchObject({
      code: 'limit_reached',
      detail:
        'an endpoint that a token changes may have at most 100 deliveries in one turn (limit.token_share)',
    })
})

Deno.test('a token is revoked by its id, and all tokens of an organisation together', async () => {
  const org = 'org-revoke'
  await createEndpoint(org, ['a.*'])
  const [first, second] = [(await createToken(org)).body, (await createToken(org)).body]
  const foreign = (await createToken('org-keep')).body
  const isRefused = async (token: string): Promise<boolean> =>
    (await call('GET /endpoints', { token })).status === 401
  expect(await isRefused(first.token)).toBe(false)
  expect(await call(`DELETE /portal-tokens/${first.id}`, inOrg(org)))
    .toMatchObject({ status: 200, body: { id: first.id } })
  expect(await waitUntil(() => isRefused(first.token), { timeoutMs: patienceMs })).toBe(true)
  expect(await isRefused(second.token)).toBe(false)
  expect((await call('GET /portal-tokens/revoked', inOrg(org))).body)
    .toMatchObject({ data: [{ id: first.id }], nextCursor: null })
  expect((await call('GET /portal-tokens/revoked', inOrg('org-keep'))).body.data).toEqual([])

  expect(await call('DELETE /portal-tokens', inOrg(org))).toMatchObject({ status: 200 })
  expect(await waitUntil(() => isRefused(second.token), { timeoutMs: patienceMs })).toBe(true)
  expect(await isRefused((await createToken(org)).body.token)).toBe(false)
  expect(await isRefused(foreign.token)).toBe(false)
})

Deno.test('GET /session says what the credentials allow, whatever they are', async () => {
  const org = 'org-session'
  const id = await createEndpoint(org, ['a.*'])
  const before = Date.now()
  const { body: { token } } = await createToken(org, {
    ...{ scopes: ['endpoints:read'], endpointIds: [id], eventTypes: ['a.*'] },
    expiresInSeconds: 600,
  })
  const { status, body } = await call('GET /session', { token })
  expect([status, body]).toMatchObject([200, {
    ...{ orgId: org, kind: 'portal', scopes: ['endpoints:read'] },
    ...{ endpointIds: [id], eventTypes: ['a.*'] },
  }])
  expect(body.expiresInSeconds).toBeGreaterThan(0)
  expect(body.expiresInSeconds).toBeLessThanOrEqual(600)
  expect(Date.parse(body.expiresAt)).toBeGreaterThan(before + 590_000)
  expect((await call('GET /session', inOrg(org))).body).toMatchObject({
    ...{ orgId: org, kind: 'key', endpointIds: null, expiresAt: null, expiresInSeconds: null },
  })
  expect(await call('GET /session', { token: `${token}x` })).toMatchObject({ status: 401 })
})
