/** Every operation of the API, with what its description allows and with what it does not. */

import { expect } from '@std/expect'
import * as fc from 'fast-check'
import { describeApi } from '../../functions/api/openapi.ts'
import { problemSchema } from '../../functions/api/schemas/problem.ts'
import { startApi, type TestApi } from '../_support/api_app.ts'
import { hostileValue, type JsonSchema, valuesOf } from '../_support/from_schema.ts'

type Parameter = { name: string; in: string; required?: boolean; schema: JsonSchema }
type Operation = {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: JsonSchema } } }
  responses: Record<string, unknown>
}
type Shot = {
  path: string
  query: Record<string, unknown>
  headers: Record<string, unknown>
  body: unknown
}

/** Fewer in the short run: see tests/_run/behind_all/shrunk.ts. */
const shotsEach = Deno.env.get('OUTHOOK_TESTS') === 'short' ? 15 : 40

const org = 'org-fuzz'
let api: TestApi

Deno.test.beforeAll(async () => {
  api = await startApi()
  const { sql } = api.outhook
  await sql`select outbox.put_whatsapp_app('900000000000001', 'secret')`
  await sql`select outbox.set_setting('whatsapp.shared_app', '"900000000000001"')`
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

function shots(
  path: string,
  operation: Operation,
  all: Record<string, JsonSchema>,
): fc.Arbitrary<Shot> {
  const named = (place: string): fc.Arbitrary<Record<string, unknown>> => {
    const those = (operation.parameters ?? []).filter((one) => one.in === place)
    return fc.record(
      Object.fromEntries(
        those.map(({ name, schema }) => [
          name,
          fc.oneof({ weight: 4, arbitrary: valuesOf(schema, all) }, {
            weight: 1,
            arbitrary: hostileValue,
          }),
        ]),
      ),
      { requiredKeys: those.filter(({ required }) => required).map(({ name }) => name) },
    )
  }
  const schema = operation.requestBody?.content['application/json'].schema
  const body = schema === undefined ? fc.constant(undefined) : fc.oneof(
    { weight: 3, arbitrary: valuesOf(schema, all) },
    { weight: 1, arbitrary: hostileValue },
    // One member is not what it should be.
    {
      weight: 2,
      arbitrary: fc.tuple(valuesOf(schema, all), fc.nat(), hostileValue).map(([good, at, bad]) => {
        if (typeof good !== 'object' || good === null || Array.isArray(good)) return bad
        const names = Object.keys(good)
        return { ...good, [names[at % names.length] ?? 'other']: bad }
      }),
    },
  )
  return fc.record({ path: named('path'), query: named('query'), headers: named('header'), body })
    .map(
      ({ path: parts, query, headers, body }) => ({
        path: path.replace(/\{(\w+)\}/g, (_, name: string) => encode(parts[name])),
        query,
        headers,
        body,
      }),
    )
}

/** Lone surrogates, which no URL can carry, become what a browser makes of them. */
function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? ''
  return encodeURIComponent(text.toWellFormed().slice(0, 2000)) || '%20'
}

async function fire(method: string, { path, query, headers, body }: Shot): Promise<Response> {
  const search = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`).join('&')
  const sent = new Headers({
    apikey: api.outhook.stack.keys.secretKey,
    'x-org-id': org,
    'content-type': 'application/json',
  })
  for (const [name, value] of Object.entries(headers)) {
    // What is no header at all does not leave the client.
    if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) sent.set(name, value)
  }
  return await api.app.request(`${path}?${search}`, {
    method,
    headers: sent,
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
}

Deno.test('every operation answers whatever it is sent with what its description lists', async () => {
  const described = describeApi(api.app)
  // SAFETY: the description is JSON Schema, of which JsonSchema is the part that it uses.
  const all = (described.components?.schemas ?? {}) as Record<string, JsonSchema>
  const statuses = new Set<number>()
  for (const [path, methods] of Object.entries(described.paths ?? {})) {
    for (const [method, one] of Object.entries(methods)) {
      // SAFETY: every member of a path is an operation here, described by zod-openapi.
      const operation = one as unknown as Operation
      // It may wait for 20 s for a test event, which nobody sends here.
      if (operation.operationId === 'testEndpoint') continue
      await fc.assert(
        fc.asyncProperty(shots(path, operation, all), async (shot) => {
          const response = await fire(method.toUpperCase(), shot)
          const text = await response.text()
          statuses.add(response.status)
          const what = `${method} ${shot.path}: ${response.status} ${text.slice(0, 300)}\n${
            api.lines.at(-2)
          }`
          if (response.status >= 500) throw new Error(what)
          if (!Object.hasOwn(operation.responses, response.status) && response.status !== 404) {
            throw new Error(`not listed: ${what}`)
          }
          if (response.status >= 400 && !problemSchema.safeParse(JSON.parse(text)).success) {
            throw new Error(`not a problem: ${what}`)
          }
        }),
        { numRuns: shotsEach },
      )
    }
  }
  expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 201, 400, 404]))
})

Deno.test('what is no JSON, or too much of it, is refused with the reason', async () => {
  const key = { apikey: api.outhook.stack.keys.secretKey, 'x-org-id': org }
  const json = { ...key, 'content-type': 'application/json' }
  const post = async (body: BodyInit, headers: HeadersInit = json): Promise<unknown[]> => {
    const response = await api.app.request('/api/v1/replay-jobs', { method: 'POST', headers, body })
    return [response.status, (await response.json()).code]
  }
  expect(await post('{"a":')).toEqual([400, 'invalid_argument'])
  expect(await post('['.repeat(100_000))).toEqual([400, 'invalid_argument'])
  expect(await post(`{"eventType": "${'['.repeat(100)}"}`)).toEqual([201, undefined])
  expect(await post(new Uint8Array([0x22, 0xff, 0xfe, 0x22]))).toEqual([400, 'invalid_argument'])
  expect(await post('{"eventType": "a\\u0000"}')).toEqual([400, 'invalid_argument'])
  expect(await post('{"eventType": "\\ud800"}')).toEqual([400, 'invalid_argument'])
  expect(await post('x'.repeat(10 * 1024 * 1024))).toEqual([413, 'too_large'])
  expect(await post('{}', { ...key, 'content-type': 'text/plain' })).toEqual([
    415,
    'unsupported_media_type',
  ])
  expect(await post('{}', { ...json, 'x-much': 'y'.repeat(20_000) })).toEqual([
    431,
    'headers_too_large',
  ])
})

Deno.test('text that the database cannot store is refused by the name of its field', async () => {
  const headers = {
    apikey: api.outhook.stack.keys.secretKey,
    'x-org-id': org,
    'content-type': 'application/json',
  }
  const field = async (path: string, body?: string): Promise<unknown[]> => {
    const init = body === undefined ? {} : { method: 'POST', body }
    const response = await api.app.request(`/api/v1${path}`, { headers, ...init })
    const problem = await response.json()
    return [response.status, problem.field, problem.remedy]
  }
  const remedy = 'Send text without NUL and lone surrogates'
  expect(await field('/replay-jobs', '{"eventType": "a\\u0000"}')).toEqual([
    400,
    'eventType',
    remedy,
  ])
  const endpoint = '{"url": "https://example.com", "eventTypes": ["a", "\\ud800"]}'
  expect(await field('/endpoints', endpoint)).toEqual([400, 'eventTypes.1', remedy])
  const event = '{"type": "a", "payload": "\\u0000", "partitionKey": "\\u0000"}'
  expect(await field('/events', event)).toEqual([400, 'partitionKey', remedy])
})

Deno.test('a body that does not come in time is given up with 408', async () => {
  const app = api.another({ limits: { bodyMs: 50 } })
  const body = new ReadableStream({
    start(controller): void {
      controller.enqueue(new TextEncoder().encode('{'))
    },
  })
  const response = await app.request('/api/v1/replay-jobs', {
    method: 'POST',
    headers: { apikey: api.outhook.stack.keys.secretKey, 'content-type': 'application/json' },
    body,
  })
  expect([response.status, (await response.json()).code]).toEqual([408, 'request_timeout'])
})

Deno.test('20 parallel creates with one Idempotency-Key make one endpoint', async () => {
  const create = async (
    description: string,
  ): Promise<{ status: number; id: string; secret: string }> => {
    const response = await api.app.request('/api/v1/endpoints', {
      method: 'POST',
      headers: {
        apikey: api.outhook.stack.keys.secretKey,
        'x-org-id': 'org-once',
        'content-type': 'application/json',
        'idempotency-key': 'once',
      },
      body: JSON.stringify({ url: 'https://example.com/once', description }),
    })
    return { ...await response.json(), status: response.status }
  }
  const made = await Promise.all(Array.from({ length: 20 }, () => create('one')))
  expect(made.map(({ status }) => status)).toEqual(Array(20).fill(201))
  expect(new Set(made.map(({ id, secret }) => `${id} ${secret}`)).size).toBe(1)
  const [row] = await api.outhook.sql`
    select count(*)::integer as n from outbox.endpoint where org_id = 'org-once'`
  expect(row?.n).toBe(1)
  expect(await create('two')).toMatchObject({ status: 409, code: 'idempotency_conflict' })
})

Deno.test('an organisation over its rate is told when to come back, and no other', async () => {
  const { sql, stack } = api.outhook
  await sql`select outbox.set_setting('api.requests_per_second', '1'), outbox.set_setting('api.burst', '3')`
  try {
    const ask = async (orgId: string): Promise<Response> =>
      await api.app.request('/api/v1/replay-jobs', {
        headers: { apikey: stack.keys.secretKey, 'x-org-id': orgId },
      })
    const first = await Promise.all([1, 2, 3].map(() => ask('org-busy')))
    expect(first.map(({ status }) => status)).toEqual([200, 200, 200])
    const refused = await ask('org-busy')
    expect([refused.status, refused.headers.get('retry-after'), (await refused.json()).code])
      .toEqual([429, '1', 'rate_limited'])
    expect((await ask('org-calm')).status).toBe(200)
  } finally {
    await sql`select outbox.set_setting('api.requests_per_second', '100000'),
      outbox.set_setting('api.burst', '100000')`
  }
})

Deno.test('CORS is off, and with origins it is on for those alone, errors included', async () => {
  const preflight = (app: TestApi['app'], origin: string): Response | Promise<Response> =>
    app.request('/api/v1/endpoints', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
  const off = await preflight(api.app, 'https://app.example')
  expect([off.status, off.headers.get('access-control-allow-origin')]).toEqual([401, null])
  const app = api.another({ corsOrigins: ['https://app.example'] })
  const on = await preflight(app, 'https://app.example')
  expect([on.status, on.headers.get('access-control-allow-origin')]).toEqual([
    204,
    'https://app.example',
  ])
  expect((await preflight(app, 'https://evil.example')).headers.get('access-control-allow-origin'))
    .toBeNull()
  const refused = await app.request('/api/v1/endpoints', {
    headers: { origin: 'https://app.example' },
  })
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
    401,
    'https://app.example',
  ])
})
