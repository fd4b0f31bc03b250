/**
 * For an unauthenticated caller, a function reads no byte of the body and makes no call to the database,
 * except to find the app of a callback, and many callbacks share such calls.
 */

import { expect } from '@std/expect'
import { createApp as createApi } from '../../functions/api/app.ts'
import { createAuthenticate } from '../../functions/api/auth/authenticate.ts'
import type { ApiDatabase } from '../../functions/api/database.ts'
import type { ApiApp } from '../../functions/api/context.ts'
import { describeApi } from '../../functions/api/openapi.ts'
import { createApp as createDeliver } from '../../functions/deliver/app.ts'
import { createApp as createConsumer } from '../../functions/example-consumer/app.ts'
import { createApp as createMetrics } from '../../functions/metrics/app.ts'
import { createApp as createAlerts } from '../../functions/ops-alerts/app.ts'
import { createApp as createWhatsapp } from '../../functions/whatsapp/app.ts'
import type { CallbackDatabase } from '../../functions/_shared/messages/callbacks/database.ts'

const webhookSecret = `whsec_${btoa('s'.repeat(32))}`

function mustNotBeAsked(): never {
  throw new Error('something was asked for a stranger')
}

const callbacks: CallbackDatabase = {
  findApp: () =>
    Promise.resolve({ ok: true, app: { id: '7', secrets: ['secret'], allowUnsigned: false } }),
  store: mustNotBeAsked,
}

function api(
  database: ApiDatabase = { call: mustNotBeAsked },
  ofCallbacks: CallbackDatabase = callbacks,
): ApiApp {
  return createApi({
    database,
    callbacks: ofCallbacks,
    authenticate: createAuthenticate({
      secretKeys: [{ name: 'default', key: 'sb_secret_x' }],
      publishableKeys: [{ name: 'default', key: 'sb_publishable_x' }],
      portalSecrets: ['p'.repeat(40)],
      jwks: { keys: [] },
      jwksUrl: new URL('http://127.0.0.1:9/jwks.json'),
      legacySecret: null,
      issuers: ['https://project.example/auth/v1'],
      wallNow: Date.now,
    }),
    portalSecrets: ['p'.repeat(40)],
    verifySecrets: ['v'.repeat(32)],
    checkChannel: () => Promise.resolve([]),
    corsOrigins: [],
    wallNow: Date.now,
    now: () => 0,
    sleep: () => Promise.resolve(),
    log: () => {},
  })
}

type Handler = (request: Request) => Response | Promise<Response>

type Visit = { what: string; handler: Handler; method: string; path: string; status: number }

const apiApp = api()
const visits: Visit[] = []
for (const [path, methods] of Object.entries(describeApi(apiApp).paths ?? {})) {
  for (const [method, operation] of Object.entries(methods)) {
    visits.push({
      what: 'api',
      handler: (request) => apiApp.fetch(request),
      method: method.toUpperCase(),
      path: path.replace(/^(\/api\/v1)?/, '/api/v1').replace(/\{[^}]*\}/g, 'x'),
      status: operation.operationId === 'verifyWhatsappCallback' ? 403 : 401,
    })
  }
}
const other: [what: string, handler: Handler, method: string, path: string, status: number][] = [
  [
    'whatsapp',
    createWhatsapp({
      database: callbacks,
      verifySecrets: ['v'.repeat(32)],
      bodyMs: 60_000,
      now: () => 0,
      log: () => {},
    }).fetch,
    'POST',
    `/whatsapp/inbound/${'k'.repeat(32)}`,
    401,
  ],
  [
    'deliver',
    createDeliver({
      kickSecrets: ['secret'],
      startRun: mustNotBeAsked,
      waitUntil: mustNotBeAsked,
      wallNow: Date.now,
    }).fetch,
    'POST',
    '/deliver/run',
    401,
  ],
  [
    'deliver as a receiver of test events',
    createDeliver({
      kickSecrets: ['secret'],
      startRun: mustNotBeAsked,
      waitUntil: mustNotBeAsked,
      wallNow: Date.now,
    }).fetch,
    'POST',
    '/deliver/test',
    204,
  ],
  [
    'metrics',
    createMetrics({
      tokens: ['token'],
      readMetrics: mustNotBeAsked,
      log: () => {},
    }).fetch,
    'GET',
    '/metrics',
    401,
  ],
  [
    'example-consumer',
    createConsumer({
      secret: webhookSecret,
      receive: mustNotBeAsked,
      log: () => {},
    }).fetch,
    'POST',
    '/example-consumer',
    401,
  ],
  [
    'example-consumer without a secret',
    createConsumer({
      secret: '',
      receive: mustNotBeAsked,
      log: () => {},
    }).fetch,
    'POST',
    '/example-consumer',
    503,
  ],
]
for (const secret of [webhookSecret, '']) {
  const alerts = createAlerts({
    secret,
    tokens: ['token'],
    send: mustNotBeAsked,
    sendForAlertmanager: mustNotBeAsked,
    log: () => {},
  })
  const status = secret === '' ? 503 : 401
  other.push(['ops-alerts', alerts.fetch, 'POST', '/ops-alerts/events', status])
  other.push(['ops-alerts', alerts.fetch, 'POST', '/ops-alerts/alertmanager', 401])
}
for (const [what, handler, method, path, status] of other) {
  visits.push({ what, handler, method, path, status })
}

/** No cache stores a response, and no browser guesses its type. */
function expectSafeHeaders({ headers }: Response): void {
  expect([headers.get('cache-control'), headers.get('x-content-type-options')])
    .toEqual(['no-store', 'nosniff'])
}

/** A body that records whether it was read. */
function trap(): { body: ReadableStream<Uint8Array>; wasRead(): boolean } {
  let isRead = false
  const body = new ReadableStream<Uint8Array>({
    pull(): never {
      isRead = true
      throw new Error('the body was read')
    },
  }, { highWaterMark: 0 })
  return { body, wasRead: () => isRead }
}

Deno.test('the table has every function that has routes', async () => {
  const functions: string[] = []
  for await (const entry of Deno.readDir(new URL('../../functions/', import.meta.url))) {
    if (entry.isDirectory && !entry.name.startsWith('_')) functions.push(entry.name)
  }
  const known = new Set(visits.map(({ what }) => what.split(' ')[0]))
  expect([...known].sort()).toEqual(functions.sort())
  expect(visits.filter(({ what }) => what === 'api').length).toBeGreaterThan(60)
})

for (const [what, handler] of new Map(visits.map(({ what, handler }) => [what, handler]))) {
  Deno.test(`${what} returns no-store and nosniff for paths that it does not have`, async () => {
    const name = what.split(' ')[0] ?? ''
    for (const path of ['/', `/${name}`, `/${name}x`, `/${name}/v2/health`, `/${name}/%ff`]) {
      for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND']) {
        expectSafeHeaders(await handler(new Request(`http://localhost${path}`, { method })))
      }
    }
  })
}

const credentials: [what: string, headers: Record<string, string>][] = [
  ['no credentials', {}],
  ['a key of nobody', { apikey: 'sb_secret_forged', authorization: 'Bearer forged' }],
]
for (const { what, handler, method, path, status } of visits) {
  for (const [given, headers] of credentials) {
    Deno.test(`${what} answers ${method} ${path} with ${given} by ${status} and reads no body`, async () => {
      const { body, wasRead } = trap()
      const response = await handler(
        new Request(`http://x.test${path}`, {
          method,
          headers: { 'content-type': 'application/json', ...headers },
          ...method === 'GET' ? {} : { body },
        }),
      )
      await response.body?.cancel()
      expect([response.status, wasRead()]).toEqual([status, false])
      expectSafeHeaders(response)
    })
  }
}

Deno.test('many callbacks of strangers cost few calls to the database, at either address', async () => {
  let calls = 0
  const database: CallbackDatabase = {
    findApp: () => {
      calls++
      return Promise.resolve({ ok: true, app: null })
    },
    store: mustNotBeAsked,
  }
  const whatsapp = createWhatsapp({
    database,
    verifySecrets: [],
    bodyMs: 60_000,
    now: () => 0,
    log: () => {},
  })
  const apiApp = api({ call: mustNotBeAsked }, database)
  const addresses: [Handler, string][] = [
    [(request) => whatsapp.fetch(request), `/whatsapp/inbound/${'k'.repeat(16)}`],
    [(request) => apiApp.fetch(request), '/api/v1/webhooks/whatsapp/inbound'],
  ]
  for (const [handler, path] of addresses) {
    calls = 0
    for (let n = 0; n < 50; n++) {
      const headers = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
      const sent = { method: 'POST', headers, body: '{}' }
      await (await handler(new Request(`http://x.test${path}`, sent))).body?.cancel()
    }
    expect([path, calls]).toEqual([path, 1])
  }
})

for (const { what, handler, path } of visits.filter(({ what }) => what !== 'api')) {
  Deno.test(`${what} responds 405 with Allow to a wrong method of ${path}, and 404 to a wrong path`, async () => {
    const wrong = await handler(new Request(`http://x.test${path}`, { method: 'PATCH' }))
    expect(wrong.status).toBe(405)
    const allowed = visits.filter((visit) => visit.path === path).map(({ method }) => method)
    expect(wrong.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(allowed))
    expect(await wrong.json()).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expectSafeHeaders(wrong)
    const missing = await handler(new Request(`http://x.test${path}/none/such`))
    expect([missing.status, missing.headers.get('allow')]).toEqual([404, null])
    await missing.body?.cancel()
    expectSafeHeaders(missing)
  })
}

Deno.test('api responds 405 with Allow to a wrong method, after it knows the caller', async () => {
  const ask = (method: string, path: string): Response | Promise<Response> =>
    known.fetch(
      new Request(`http://x.test/api/v1${path}`, { method, headers: { apikey: 'sb_secret_x' } }),
    )
  const known = api({
    call: (_name, _args, schema) =>
      Promise.resolve(
        schema.parse({
          granted: 1,
          retryAfterMs: 0,
          portal: { generation: 0, revoked: [] },
          maxInFlight: 8,
        }),
      ),
  })
  const rows: [string, string, number, string | null][] = [
    ['PUT', '/endpoints', 405, 'GET, HEAD, POST'],
    ['POST', '/endpoints/5601718c-af4d-4072-8528-9a4e1b376fae', 405, 'DELETE, GET, HEAD, PATCH'],
    ['PATCH', '/openapi.json', 405, 'GET, HEAD'],
    ['GET', '/endpoints/', 404, null],
    ['GET', '/nothing', 404, null],
  ]
  for (const [method, path, status, allow] of rows) {
    const response = await ask(method, path)
    await response.body?.cancel()
    expect([method, path, response.status, response.headers.get('allow')])
      .toEqual([method, path, status, allow])
    expectSafeHeaders(response)
  }
})
