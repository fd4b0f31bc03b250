/** The audit trail over the API: what each operation leaves there, and whom a caller may name. */

import { expect } from '@std/expect'
import { signPortalToken } from '../../functions/api/auth/portal.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startApi, type TestApi } from '../_support/api_app.ts'
import { makeTenants, type Tenants, visitor } from '../_support/tenants.ts'
import { calls } from './isolation/calls.ts'
import { type Operation, operations, type Shot, shotsOf } from './isolation/walk.ts'

/** The rows that each operation leaves: entity and action. */
const leaves: Record<string, readonly string[]> = {
  createEndpoint: ['ENDPOINT CREATED'],
  updateEndpoint: ['ENDPOINT CHANGED'],
  pauseEndpoint: ['ENDPOINT PAUSED'],
  resumeEndpoint: ['ENDPOINT RESUMED'],
  deleteEndpoint: ['ENDPOINT DELETED'],
  setRetryConfig: ['ENDPOINT CHANGED'],
  resetRetryConfig: ['ENDPOINT CHANGED'],
  getEndpointSecret: ['ENDPOINT SECRET_SHOWN'],
  rotateEndpointSecret: ['ENDPOINT SECRET_ROTATED'],
  expireEndpointSecret: ['ENDPOINT SECRET_EXPIRED'],
  retryDelivery: ['DELIVERY RETRIED'],
  replayDelivery: ['DELIVERY REPLAYED'],
  cancelDelivery: ['DELIVERY CANCELLED'],
  replayDeadLetter: ['DELIVERY REPLAYED'],
  discardDeadLetter: ['DELIVERY DISCARDED'],
  createReplayJob: ['REPLAY_JOB CREATED'],
  createBackfill: ['REPLAY_JOB CREATED'],
  pauseReplayJob: ['REPLAY_JOB PAUSED'],
  resumeReplayJob: ['REPLAY_JOB RESUMED'],
  cancelReplayJob: ['REPLAY_JOB CANCELLED'],
  createPortalToken: ['PORTAL_TOKEN CREATED'],
  revokePortalToken: ['PORTAL_TOKEN REVOKED'],
  revokePortalTokens: ['PORTAL_TOKEN REVOKED'],
  createEventType: ['EVENT_TYPE CREATED'],
  putEventType: ['EVENT_TYPE CHANGED'],
  deleteEventType: ['EVENT_TYPE DELETED'],
  putCatalogue: ['EVENT_CATALOGUE CHANGED'],
  createMessage: ['OUTBOUND_MESSAGE CREATED'],
  cancelMessage: ['OUTBOUND_MESSAGE CANCELLED'],
  resendMessage: ['OUTBOUND_MESSAGE UPDATED'],
  recordConsent: ['DOSSIER CONSENT_GRANTED'],
  putTemplate: ['TEMPLATE UPDATED'],
  deleteTemplate: ['TEMPLATE DELETED'],
  createChannel: ['CHANNEL CREATED'],
  // The token, whether it is the default, and what was changed.
  updateChannel: ['CHANNEL SECRET_ROTATED', 'CHANNEL UPDATED', 'CHANNEL UPDATED'],
  setChannelToken: ['CHANNEL SECRET_ROTATED'],
  setDefaultChannel: ['CHANNEL UPDATED'],
  deleteChannel: ['CHANNEL DELETED'],
  putWhatsappApp: ['WHATSAPP_APP CHANGED'],
  putOptOut: ['PERSON OPTED_OUT'],
  deleteOptOut: ['PERSON OPTED_IN'],
}

/** Why an operation leaves none. */
const without: Record<string, readonly string[]> = {
  'It changes nothing.': [
    'previewRetryConfig',
    'previewReplayJob',
    'previewBackfill',
    'tryFilter',
    'checkChannel',
  ],
  'What it makes is stored with its time: an event, or the execution of a saga.': [
    'publishEvent',
    'publishEvents',
    'testEndpoint',
    'executeSaga',
  ],
  'It is the report of a provider.': ['receiveWhatsappCallback'],
  // Their lines are in tests/sql/messages/audit/lines.test.sql.
  'Nothing of the sample can be changed by it.': ['partPerson', 'resumeChannel'],
}
const anna = 'anna@example.com'

let api: TestApi
let tenants: Tenants
let all: Operation[]

Deno.test.beforeAll(async () => {
  api = await startApi({ cronAlone: true })
  tenants = await makeTenants(api.outhook, projectRoot)
  await api.outhook.sql`select outbox.set_setting('limit.replay_jobs', '100')`
  all = operations(api.app).all
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

type Row = { line: string; actor: string | null; org: string | null; entity: string }

async function lastId(): Promise<string> {
  const [row] = await api.outhook.sql`
    select coalesce(max(id), 0)::text as id from outbox.audit_event`
  return row?.id
}

/** The rows that `use` leaves, and what it returns. */
async function rowsOf<Result>(use: () => Promise<Result>): Promise<[Row[], Result]> {
  const before = await lastId()
  const result = await use()
  const rows = await api.outhook.sql<Row[]>`
    select entity_type || ' ' || action as line, actor, org_id as org, entity_id as entity
    from outbox.audit_event where id > ${before}::bigint order by id`
  return [[...rows], result]
}

function keyOf(person?: string): Record<string, string> {
  const { secretKey } = api.outhook.stack.keys
  return {
    ...{ apikey: secretKey, 'x-org-id': visitor },
    ...person === undefined ? {} : { 'x-outhook-actor': person },
  }
}

async function send(
  { operation, path, headers, body }: Shot,
): Promise<{ status: number; text: string }> {
  const response = await api.app.request(path, {
    method: operation.method,
    headers: { 'content-type': 'application/json', ...headers, ...keyOf(anna) },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
  return { status: response.status, text: await response.text() }
}

/** The calls of the walk of organisations, in their order. */
function shots(): Shot[] {
  return Object.entries(calls).flatMap(([operationId, those]) => {
    const operation = all.find((one) => one.operationId === operationId)
    if (operation === undefined) throw new Error(`There is no operation ${operationId}`)
    return those.flatMap((call) => shotsOf(operation, call, tenants))
  })
}

Deno.test('every operation that is no read leaves rows in the audit trail, or says why not', () => {
  const changing = all.filter(({ method }) => method !== 'GET').map((one) => one.operationId)
  const known = [...Object.keys(leaves), ...Object.values(without).flat()]
  expect(known.filter((one) => one !== 'getEndpointSecret').toSorted())
    .toEqual(changing.toSorted())
})

Deno.test('a refused operation leaves no row', async () => {
  const wrong: unknown[] = []
  let refused = 0
  for (
    const shot of shots().filter(({ foreign, withKey }) => foreign.length > 0 && withKey > 300)
  ) {
    const [rows, { status, text }] = await rowsOf(() => send(shot))
    // A blocked message is evidence.
    const kept = rows.filter(({ line }) => line !== 'DOSSIER BLOCKED_BY_POLICY')
    if (status >= 300) refused++
    if (status >= 300 && kept.length > 0) wrong.push([shot.path, status, text, kept])
  }
  expect(wrong).toEqual([])
  expect(refused).toBeGreaterThan(30)
})

Deno.test('each operation leaves its rows, with the person whom the secret key names', async () => {
  const wrong: unknown[] = []
  const done = new Set<string>()
  const own = shots().filter(({ foreign }) => foreign.length === 0)
  // The person of the sample has opted out, and opts in later.
  const again = own.filter(({ operation }) => operation.operationId === 'putOptOut')
  for (const shot of [...own, ...again]) {
    const { operationId } = shot.operation
    const [rows, { status, text }] = await rowsOf(() => send(shot))
    const isChange = status < 300 && !text.includes('"isNew":false')
    const expected = isChange ? leaves[operationId] ?? [] : []
    const isRight = rows.every(({ actor, org, line }) =>
      actor === `key:default:${anna}` && (org === visitor || line.startsWith('WHATSAPP_APP'))
    )
    if (!isRight || rows.map(({ line }) => line).join() !== expected.join()) {
      wrong.push([operationId, shot.path, status, text.slice(0, 200), rows])
    }
    if (status < 300 && rows.length > 0) done.add(operationId)
  }
  expect(wrong).toEqual([])
  expect(Object.keys(leaves).filter((one) => !done.has(one))).toEqual([])

  const rows = await api.outhook.sql<{ text: string }[]>`
    select to_jsonb(x)::text as text from outbox.audit_event x`
  const secrets = /whsec_|whsk_|https?:|1202555|Anna|app-secret/
  expect(rows.map(({ text }) => text).filter((text) => secrets.test(text))).toEqual([])
})

/** An endpoint of the visitor that each test may pause. */
async function newEndpoint(): Promise<string> {
  const response = await api.app.request('/api/v1/endpoints', {
    method: 'POST',
    headers: { ...keyOf(), 'content-type': 'application/json' },
    body: '{"url": "https://example.com/paused"}',
  })
  return (await response.json()).id
}

/** Pauses an endpoint with these headers: the status, and the actors of the rows. */
async function pause(id: string, headers: HeadersInit): Promise<unknown[]> {
  const [rows, response] = await rowsOf(async () =>
    await api.app.request(`/api/v1/endpoints/${id}/pause`, { method: 'POST', headers })
  )
  await response.body?.cancel()
  return [response.status, ...rows.map(({ actor }) => actor)]
}

Deno.test('a token is its own person, and only a secret key names one', async () => {
  const id = await newEndpoint()
  const boss = { 'x-outhook-actor': 'user:boss' }
  expect(await pause(id, keyOf())).toEqual([200, 'key:default'])
  expect(await pause(id, keyOf('user:boss'))).toEqual([200, 'key:default:user:boss'])
  const [status, user] = await pause(id, {
    ...boss,
    authorization: `Bearer ${await api.token(visitor, ['endpoints:write'])}`,
  })
  expect(status).toBe(200)
  expect(user).toMatch(/^user:(?!boss)/)
  const [row] = await api.outhook.sql`select outbox.portal_generation(${visitor}) as generation`
  const portal = await signPortalToken({
    ...{ orgId: visitor, scopes: ['endpoints:write'], limits: null },
    generation: row?.generation,
    ...{ subject: 'shop"7\\', id: crypto.randomUUID() },
    ...{ issuedAt: Math.floor(Date.now() / 1000), lifeSeconds: 60 },
  }, api.outhook.stack.keys.portalSecret)
  expect(await pause(id, { ...boss, authorization: `Bearer ${portal}` }))
    .toEqual([200, 'portal:shop%227%5C'])

  const twice = new Headers(keyOf('anna'))
  twice.append('x-outhook-actor', 'boss')
  const wrong = ['a b', 'Zo\u00e9', 'a'.repeat(101), 'a'.repeat(10_000), '']
  for (const headers of [twice, ...wrong.map((person) => keyOf(person))]) {
    expect(await pause(id, headers)).toEqual([400])
  }
})

Deno.test('over the Data API, a secret key names a person in up to 200 characters, or is service', async () => {
  const id = await newEndpoint()
  const { apiUrl, keys } = api.outhook.stack
  const call = async (
    more: Record<string, string>,
    apikey = keys.secretKey,
  ): Promise<unknown[]> => {
    const [rows, response] = await rowsOf(() =>
      fetch(`${apiUrl}/rest/v1/rpc/pause_endpoint`, {
        method: 'POST',
        headers: {
          apikey,
          'content-profile': 'outbox',
          'content-type': 'application/json',
          ...more,
        },
        body: JSON.stringify({ p_endpoint_id: id }),
      })
    )
    await response.body?.cancel()
    return [response.ok, ...rows.map(({ actor }) => actor)]
  }
  const named = (person: string): Promise<unknown[]> => call({ 'x-outhook-actor': person })
  expect(await call({})).toEqual([true, 'service'])
  expect(await named('user:anna')).toEqual([true, 'user:anna'])
  expect(await named('x'.repeat(10_000))).toEqual([true, 'x'.repeat(200)])
  for (const person of ['anna, boss', 'a"b', 'a\\b', 'a\tb']) {
    expect([person, await named(person)]).toEqual([person, [true, 'service']])
  }
  const token = await api.token(visitor, ['all'])
  expect(
    await call(
      { authorization: `Bearer ${token}`, 'x-outhook-actor': 'boss' },
      keys.publishableKey,
    ),
  )
    .toEqual([false])
})

Deno.test('the list filters by actor, action, object and time, and a portal token needs the scope by name', async () => {
  const made = await newEndpoint()
  const list = async (query: string, headers = keyOf()): Promise<Record<string, unknown>[]> => {
    const response = await api.app.request(`/api/v1/audit-events${query}`, { headers })
    return (await response.json()).data
  }
  expect((await list('?actor=key:default&action=CREATED'))[0])
    .toMatchObject({ entityType: 'ENDPOINT', entityId: made, data: {} })
  for (
    const query of ['actor=user:nobody', 'from=2100-01-01T00:00:00Z', 'to=2000-01-01T00:00:00Z']
  ) {
    expect(await list(`?${query}`)).toEqual([])
  }
  const own = `?entityType=ENDPOINT&entityId=${made}&to=2100-01-01T00:00:00Z`
  expect(await list(own)).toHaveLength(1)
  const tokenOf = async (body: unknown): Promise<string> => {
    const response = await api.app.request('/api/v1/portal-tokens', {
      method: 'POST',
      headers: { ...keyOf(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()).token
  }
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
  const plain = await api.app.request('/api/v1/audit-events', {
    headers: bearer(await tokenOf({})),
  })
  expect(plain.status).toBe(403)
  await plain.body?.cancel()
  const allowed = await list('', bearer(await tokenOf({ scopes: ['audit:read'], subject: 'zoe' })))
  expect(allowed[0]).toMatchObject({
    action: 'CREATED',
    entityType: 'PORTAL_TOKEN',
    data: { subject: 'zoe' },
  })
})
