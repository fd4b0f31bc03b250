/** Endpoints through the API, as a backend manages them. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'

let outhook: TestOuthook
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver', 'api'] })
  call = apiCaller(outhook)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

async function create(more: Record<string, unknown> = {}): Promise<ApiAnswer> {
  return await call('POST /endpoints', {
    body: { url: `${outhook.receiver.url}/hooks/api`, eventTypes: ['api.never'], ...more },
  })
}

Deno.test('POST /endpoints creates an endpoint that GET gives without its secret', async () => {
  const created = await create({ description: 'One', headers: { 'x-tenant': 'seven' } })
  expect(created).toMatchObject({
    status: 201,
    body: { description: 'One', headerNames: ['x-tenant'], status: 'enabled', version: 1 },
  })
  expect(created.body.secret).toMatch(/^whsec_/)
  expect(created.headers.get('etag')).toBe('"1"')
  const { secret: _, ...shown } = created.body
  const got = await call(`GET /endpoints/${created.body.id}`)
  expect(got).toMatchObject({ status: 200, body: shown })
  expect(JSON.stringify(got.body)).not.toContain('whsec_')
})

Deno.test('GET /endpoints gives each endpoint once, page by page, newest first', async () => {
  const headers = { 'x-org-id': 'org-pages' }
  const made: string[] = []
  for (let n = 0; n < 5; n++) {
    const { body } = await call('POST /endpoints', {
      headers,
      body: { url: `${outhook.receiver.url}/hooks/${n}` },
    })
    made.unshift(body.id)
  }
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await call(`GET /endpoints?limit=2${query}`, { headers })
    seen.push(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.nextCursor
  }
  expect(seen).toEqual(made)
})

Deno.test('POST /endpoints names the member that is wrong, in camelCase', async () => {
  expect(await create({ timeoutMs: 1 })).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', field: 'timeoutMs' },
  })
  expect(await create({ timeout: 1 })).toMatchObject({
    status: 400,
    body: { field: 'timeout', detail: 'timeout is unknown' },
  })
  expect(await create({ url: 'https://10.0.0.1/x' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_argument', field: 'url' },
  })
  expect(await call('POST /endpoints', { body: '{' })).toMatchObject({
    status: 400,
    body: { detail: 'The body is missing or not JSON' },
  })
})

Deno.test('PATCH sends no header to a host that it was not named for', async () => {
  const { body: { id } } = await create({ headers: { 'x-api-key': 'one', 'x-b': '2' } })
  const path = `/endpoints/${id}`
  const url = 'https://other.example.com/hook'
  const refused = await call(`PATCH ${path}`, { body: { url, headers: { 'x-b': '3' } } })
  expect(refused).toMatchObject({
    status: 400,
    body: {
      field: 'headers',
      detail: 'headers lacks x-api-key, although the URL leads to another scheme, host or port',
      remedy: expect.stringContaining('or null to remove it'),
    },
  })
  expect((await call(`GET ${path}`)).body.url).not.toBe(url)
  const headers = { 'X-API-KEY': null, 'x-b': '3' }
  expect(await call(`PATCH ${path}`, { body: { url, headers } }))
    .toMatchObject({ status: 200, body: { url, headerNames: ['x-b'] } })
})

Deno.test('PATCH changes what it names, and refuses who has read an older version', async () => {
  const { body: { id } } = await create({ headers: { 'x-a': '1', 'x-b': '2' } })
  const path = `/endpoints/${id}`
  const changed = await call(`PATCH ${path}`, {
    headers: { 'if-match': '"1"' },
    body: {
      description: 'New',
      eventTypes: ['api.one', 'api.two'],
      filter: '$.total ? (@ > 100)',
      headers: { 'x-a': null },
      breaker: { threshold: 9 },
      ratePerSecond: 5,
    },
  })
  expect(changed).toMatchObject({
    status: 200,
    body: {
      description: 'New',
      eventTypes: ['api.one', 'api.two'],
      filter: '$.total ? (@ > 100)',
      headerNames: ['x-b'],
      breaker: { enabled: true, threshold: 9, openMs: 30_000 },
      ratePerSecond: 5,
      timeoutMs: 15_000,
    },
  })
  expect(await call(`PATCH ${path}`, { headers: { 'if-match': '"1"' }, body: { quantum: 1 } }))
    .toMatchObject({ status: 412, body: { code: 'version_mismatch' } })
  const etag = changed.headers.get('etag') ?? ''
  expect(await call(`PATCH ${path}`, { headers: { 'if-match': etag }, body: { quantum: 1 } }))
    .toMatchObject({ status: 200, body: { quantum: 1, eventTypes: ['api.one', 'api.two'] } })
  expect(await call(`PATCH ${path}`, { body: { eventTypes: ['api.three'], ratePerSecond: null } }))
    .toMatchObject({
      status: 200,
      body: { eventTypes: ['api.three'], filter: '$.total ? (@ > 100)', ratePerSecond: null },
    })
})

Deno.test('DELETE makes an endpoint 404, with the ETag of its last version alone', async () => {
  const { body: { id } } = await create()
  const path = `/endpoints/${id}`
  expect(await call(`DELETE ${path}`, { headers: { 'if-match': '"7"' } })).toMatchObject({
    status: 412,
  })
  expect(await call(`DELETE ${path}`, { headers: { 'if-match': '"1"' } })).toMatchObject({
    status: 200,
    body: { id, open: 0 },
  })
  expect(await call(`GET ${path}`)).toMatchObject({ status: 404, body: { code: 'not_found' } })
})

Deno.test('retry-config is the preset until PUT, and again after DELETE', async () => {
  const { body: { id } } = await create()
  const path = `/endpoints/${id}/retry-config`
  const preset = await call(`GET ${path}`)
  expect(preset).toMatchObject({
    status: 200,
    body: { preset: true, policy: { strategy: 'schedule', delays: [1, 5, 15, 60, 300] } },
  })
  expect(preset.body.schedule).toHaveLength(5)
  const policy = { strategy: 'exponential', baseDelay: 2, maxDelay: 10, maxRetries: 4 }
  const put = await call(`PUT ${path}`, { body: policy, headers: { 'if-match': '"1"' } })
  expect(put).toMatchObject({ status: 200, body: { preset: false, policy, version: 2 } })
  expect(put.body.schedule.map(({ delaySeconds }: { delaySeconds: number }) => delaySeconds))
    .toEqual([2, 4, 8, 10])
  expect(await call(`PUT ${path}`, { body: policy, headers: { 'if-match': '"1"' } }))
    .toMatchObject({ status: 412 })
  expect(await call(`PUT ${path}`, { body: { strategy: 'fixed', baseDelay: -1 } }))
    .toMatchObject({ status: 400, body: { field: 'baseDelay' } })
  expect((await call('POST /retry-config/preview', { body: policy })).body.schedule)
    .toEqual(put.body.schedule)
  expect(await call(`DELETE ${path}`)).toMatchObject({ status: 200, body: { preset: true } })
})

Deno.test('a rotated secret signs beside the new one until it is ended', async () => {
  const { body: { id, secret } } = await create()
  const path = `/endpoints/${id}`
  expect((await call(`GET ${path}/secret`)).body.secret).toBe(secret)
  const rotated = await call(`POST ${path}/secret/rotate`, { body: { overlapSeconds: 3600 } })
  expect(rotated.status).toBe(200)
  expect(rotated.body.secret).not.toBe(secret)
  expect(rotated.body.secrets).toHaveLength(2)
  const [current, old] = rotated.body.secrets
  const keyed = { headers: { 'idempotency-key': `rotate-${id}` }, body: { overlapSeconds: 60 } }
  const once = await call(`POST ${path}/secret/rotate`, keyed)
  expect(once.body.secrets).toHaveLength(3)
  expect((await call(`POST ${path}/secret/rotate`, keyed)).body).toEqual(once.body)
  expect(await call(`POST ${path}/secret/rotate`, { ...keyed, body: { overlapSeconds: 61 } }))
    .toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
  expect(old.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/)
  expect((await call(`DELETE ${path}/secrets/${old.id}`)).body.secrets).toHaveLength(2)
  expect((await call(`DELETE ${path}/secrets/${current.id}`)).body.secrets).toHaveLength(1)
  expect(await call(`DELETE ${path}/secrets/${once.body.secrets[0].id}`))
    .toMatchObject({ status: 409, body: { code: 'wrong_state' } })
  for (const overlapSeconds of [3600, 7200]) {
    await call(`POST ${path}/secret/rotate`, { body: { overlapSeconds } })
  }
  const leaked = await call(`POST ${path}/secret/rotate`, { body: { overlapSeconds: 0 } })
  expect(leaked.body.secrets).toMatchObject([{ expiresAt: null }])
})

Deno.test('a repeat with its Idempotency-Key has its answer also after the endpoint was deleted', async () => {
  const made = {
    headers: { 'idempotency-key': 'made-and-deleted' },
    body: { url: `${outhook.receiver.url}/hooks/deleted`, eventTypes: ['api.never'] },
  }
  const turned = { headers: { 'idempotency-key': 'turned-and-deleted' }, body: {} }
  const { body: { secret: _, ...created } } = await call('POST /endpoints', made)
  const rotate = `POST /endpoints/${created.id}/secret/rotate`
  const { body: { secret: _new, ...rotated } } = await call(rotate, turned)
  expect(await call(`DELETE /endpoints/${created.id}`)).toMatchObject({ status: 200 })
  expect((await call('POST /endpoints', made)).body).toEqual(created)
  expect((await call(rotate, turned)).body).toEqual(rotated)
  // A token finds no such endpoint any more, but has the answer of its key.
  const scopes = ['endpoints:read', 'secrets:write']
  const { body: { token } } = await call('POST /portal-tokens', { body: { scopes } })
  expect((await call(rotate, { ...turned, token })).body).toEqual(rotated)
  expect(await call(rotate, { body: {}, token })).toMatchObject({ status: 404 })
  const others = { headers: { 'idempotency-key': 'another-turn' }, body: {} }
  expect(await call(rotate, others)).toMatchObject({ status: 404, body: { code: 'not_found' } })
})

Deno.test('a test event brings its result; a paused endpoint refuses it', async () => {
  const { body: { id } } = await create()
  const path = `/endpoints/${id}`
  expect(await call(`POST ${path}/test`)).toMatchObject({
    status: 200,
    body: { outcome: 'delivered', attempt: 1, error: null },
  })
  expect(await call(`GET ${path}/stats`)).toMatchObject({
    status: 200,
    body: { open: 0, breaker: 'closed', attempts: { total: 1, delivered: 1, capped: false } },
  })
  const forged = { reason: 'the endpoint moves here from eu-1' }
  expect(await call(`POST ${path}/pause`, { body: forged }))
    .toMatchObject({ status: 400, body: { code: 'invalid_argument' } })
  expect(await call(`POST ${path}/pause`, { body: { reason: 'rebuild' } })).toMatchObject({
    status: 200,
    body: { status: 'paused', statusReason: 'rebuild' },
  })
  expect(await call(`POST ${path}/test`))
    .toMatchObject({ status: 409, body: { code: 'wrong_state' } })
  expect(await call(`POST ${path}/resume`)).toMatchObject({ body: { status: 'enabled' } })
})

Deno.test("a user's token has the organisation and the scopes of its app_metadata", async () => {
  const iss = `${outhook.stack.apiUrl}/auth/v1`
  const sign = (app_metadata: unknown, more = {}): Promise<string> =>
    outhook.stack.keys.signUserJwt({ iss, app_metadata, ...more })
  const body = { url: `${outhook.receiver.url}/hooks/user` }
  const admin = await sign({ org_id: 'org-user', outhook_scopes: ['endpoints:write'] })
  expect(await call('POST /endpoints', { token: admin, body })).toMatchObject({ status: 201 })
  const viewer = await sign({ org_ids: ['org-user'], outhook_scopes: ['endpoints:read'] }, {
    user_metadata: { outhook_scopes: ['all'] },
  })
  const nobody = await sign({ org_id: 'org-user' })
  expect(await call('GET /endpoints', { token: nobody })).toMatchObject({
    status: 403,
    body: {
      code: 'forbidden',
      remedy: 'Add endpoints:read to the array app_metadata.outhook_scopes of the user',
    },
  })
  expect((await call('GET /endpoints', { token: viewer })).body.data).toHaveLength(1)
  expect(await call('POST /endpoints', { token: viewer, body })).toMatchObject({ status: 403 })
  for (const token of [null, 'no-token', await sign({}, { iss: 'https://example.com' })]) {
    expect(await call('GET /endpoints', { token }))
      .toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
  }
  expect(await call('GET /endpoints', { token: await sign({ org_id: 'outhook' }) }))
    .toMatchObject({ status: 403 })
})

Deno.test('POST /endpoints makes a Slack endpoint, which writes what the system says of itself', async () => {
  const headers = { 'x-org-id': 'outhook' }
  const path = '/services/T0/B0/xyz'
  const slack = { kind: 'slack', url: outhook.receiver.url + path, eventTypes: ['outhook.*'] }
  for (const more of [{ secret: 'whsec_x' }, { ordering: 'endpoint' }, { payload: 'data' }]) {
    const refused = await call('POST /endpoints', { headers, body: { ...slack, ...more } })
    expect(refused).toMatchObject({ status: 400, body: { field: Object.keys(more)[0] } })
  }
  const key = { ...headers, 'idempotency-key': 'slack-1' }
  const created = await call('POST /endpoints', { headers: key, body: slack })
  expect(created).toMatchObject({ status: 201, body: { kind: 'slack' } })
  expect(created.body).not.toHaveProperty('secret')
  expect(created.body.url).toBe(`${outhook.receiver.url}/…`)
  expect(await call('POST /endpoints', { headers: key, body: slack }))
    .toMatchObject({ status: 201, body: created.body })
  const { id } = created.body
  const changed = await call(`PATCH /endpoints/${id}`, { headers, body: { url: slack.url } })
  expect(changed.body.url).toBe(`${outhook.receiver.url}/…`)
  expect(await call(`GET /endpoints/${id}/secret`, { headers }))
    .toMatchObject({ status: 409, body: { code: 'wrong_state' } })

  const [row] = await outhook.sql`
    select outbox.disable_endpoint(${(await create()).body.id}, 'by the test')`
  expect(row).toBeDefined()
  const texts = (): string[] =>
    outhook.receiver.received.filter((request) => request.path === path)
      .map(({ body }) => JSON.parse(new TextDecoder().decode(body)).text)
  expect(await waitUntil(() => texts().length > 0, { timeoutMs: patienceMs })).toBe(true)
  expect(texts()[0]).toMatch(
    /^:no_entry: \*Endpoint disabled\*: `http.*` of `default` .*by the test/,
  )
  expect(await call(`DELETE /endpoints/${id}`, { headers })).toMatchObject({ status: 200 })
})

Deno.test('POST /endpoints takes a broker from who has the secret key, and never shows its password', async () => {
  const headers = { 'x-org-id': 'org-broker' }
  const body = {
    kind: 'kafka',
    broker: { brokers: ['kafka.example.com:9093'], sasl: 'plain', dlqTopic: 'dead.{type}' },
    credentials: { username: 'ada', password: 'pa55:word' },
    retry: { strategy: 'fixed', baseDelay: 2 },
    eventTypes: ['never.*'],
  }
  const admin = await outhook.stack.keys.signUserJwt({
    iss: `${outhook.stack.apiUrl}/auth/v1`,
    app_metadata: { org_id: 'org-broker', outhook_scopes: ['all'] },
  })
  expect(await call('POST /endpoints', { token: admin, body }))
    .toMatchObject({ status: 403, body: { code: 'forbidden' } })
  const created = await call('POST /endpoints', { headers, body })
  expect(created).toMatchObject({
    status: 201,
    body: {
      kind: 'kafka',
      url: 'kafka://kafka.example.com:9093',
      ordering: 'partition',
      broker: { topic: '{type}', tls: true, sasl: 'plain', dlqTopic: 'dead.{type}' },
    },
  })
  const path = `/endpoints/${created.body.id}`
  const change = { broker: { topic: 'shop' } }
  expect(await call(`PATCH ${path}`, { token: admin, body: change })).toMatchObject({ status: 403 })
  expect(await call(`PATCH ${path}`, { token: admin, body: { url: 'https://a.example' } }))
    .toMatchObject({ status: 403 })
  expect(await call(`PATCH ${path}`, { headers, body: { url: 'https://a.example' } }))
    .toMatchObject({ status: 400, body: { field: 'url' } })
  expect(await call(`PATCH ${path}`, { headers, body: change }))
    .toMatchObject({ status: 200, body: { broker: { topic: 'shop', dlqTopic: 'dead.{type}' } } })
  expect(JSON.stringify((await call(`GET ${path}`, { token: admin })).body)).not.toContain('pa55')
  for (
    const [more, field] of [
      [{ broker: { brokers: ['10.0.0.1:9092'] } }, 'broker.brokers'],
      [{ broker: { ...body.broker, dlqTopic: 'a b' } }, 'broker.dlqTopic'],
      [{ credentials: undefined }, 'credentials'],
      [{ secret: 'whsec_x' }, 'secret'],
    ] as const
  ) {
    expect(await call('POST /endpoints', { headers, body: { ...body, ...more } }))
      .toMatchObject({ status: 400, body: { field } })
  }
  expect(outhook.log.join()).not.toContain('pa55')
})
