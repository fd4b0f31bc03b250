import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import {
  type CallbackCode,
  toResponse,
} from '../../../../../functions/_shared/messages/callbacks/response.ts'
import type {
  App,
  AppReply,
  Batch,
  StoreReply,
} from '../../../../../functions/_shared/messages/callbacks/database.ts'
import {
  maxBytes,
  maxUnsignedBytes,
  receiveCallback,
} from '../../../../../functions/_shared/messages/callbacks/receive.ts'
import { errorCodes } from '../../../../../functions/api/errors.ts'
import {
  type BodyRoom,
  bytesOfRequest,
  createBodyRoom,
  unverifiedBodies,
} from '../../../../../functions/_shared/http/body_room.ts'
import { createAppLookup } from '../../../../../functions/_shared/messages/callbacks/app_lookup.ts'
import { envelope, metadata, shapes } from './shapes.ts'

const appKey = 'a1b2c3d4e5f60718'
const secret = 'app-secret-1'
const app: App = { id: '77', secrets: [secret], allowUnsigned: false }
const body = envelope({
  metadata,
  messages: [{ id: 'wamid.SECRETNUMBER', from: '12025550111', text: { body: 'Zoé \\/ “é”' } }],
})

type Setting = {
  app?: App | null
  key?: string | null
  body?: BodyInit
  headers?: Record<string, string>
  stored?: StoreReply
  findsNothing?: boolean
  /** What the database answers first. */
  replies?: AppReply[]
  /** The app as an earlier callback has read it. */
  kept?: App
  bodyMs?: number
  bodies?: BodyRoom
}

type Outcome = {
  status: number
  text: string
  asked: (string | null)[]
  batches: Batch[]
  log: string
}

const counts = { stored: 1, duplicates: 0, applied: 1, skipped: 0, kept: 0 }

async function send(setting: Setting = {}): Promise<Outcome> {
  const asked: (string | null)[] = []
  const batches: Batch[] = []
  const lines: string[] = []
  const sent = setting.body ?? JSON.stringify(body)
  const key = setting.key === undefined ? appKey : setting.key
  const replies = [...setting.replies ?? []]
  if (setting.kept !== undefined) replies.unshift({ ok: true, app: setting.kept })
  const apps = createAppLookup((key): Promise<AppReply> => {
    asked.push(key)
    const reply = replies.shift()
    if (reply !== undefined) return Promise.resolve(reply)
    return Promise.resolve(
      setting.findsNothing
        ? { ok: false, error: 'outbox.callback_app answers 0' }
        : { ok: true, app: setting.app === undefined ? app : setting.app },
    )
  }, () => 0)
  if (setting.kept !== undefined) {
    await apps.find(key)
    asked.length = 0
  }
  const answer = await receiveCallback(
    new Request('https://x.test/', {
      method: 'POST',
      headers: setting.headers ?? { 'x-hub-signature-256': sign(sent) },
      body: sent,
    }),
    key,
    {
      bodies: setting.bodies ?? createBodyRoom(unverifiedBodies),
      apps,
      database: {
        store(batch): Promise<StoreReply> {
          batches.push(batch)
          return Promise.resolve(setting.stored ?? { ok: true, counts, warnings: 0 })
        },
      },
      bodyMs: setting.bodyMs ?? 60_000,
      log: (level, message, fields) => lines.push(JSON.stringify({ level, message, ...fields })),
    },
  )
  const response = toResponse(answer)
  const log = lines.join('\n')
  return { status: response.status, text: await response.text(), asked, batches, log }
}

function sign(sent: BodyInit, by = secret): string {
  const bytes = typeof sent === 'string' || sent instanceof Uint8Array ? sent : ''
  return `sha256=${createHmac('sha256', by).update(bytes).digest('hex')}`
}

Deno.test('a signed callback is stored for the app that signed it, with 200', async () => {
  const { status, text, asked, batches } = await send()
  expect([status, JSON.parse(text)]).toEqual([200, counts])
  expect(asked).toEqual([appKey])
  expect(batches).toMatchObject([{ appId: '77', orgId: null, updates: [{ kind: 'message' }] }])
})

Deno.test('the signature is of the bytes that came, whatever JSON would make of them', async () => {
  const escaped = '{"entry":[ {"id":"1","changes":[{"value":{"a":"\\u00e4 \\/ \\u00E4"}}]}]}\n'
  const accented = '{"b":"äöå","entry":[]}'
  for (const sent of [escaped, accented]) expect((await send({ body: sent })).status).toBe(200)
  const headers = { 'x-hub-signature-256': sign(JSON.stringify(JSON.parse(escaped))) }
  expect((await send({ body: escaped, headers })).status).toBe(401)
})

Deno.test('a signature that is missing, malformed or of another secret is 401, and nothing is stored', async () => {
  const sent = JSON.stringify(body)
  const digest = sign(sent).slice(7)
  const signatures = [
    null,
    '',
    digest,
    `sha1=${digest}`,
    `sha256=${digest.toUpperCase()}`,
    `sha256=${digest}0`,
    `sha256=${digest.slice(1)}`,
    `sha256= ${digest}`,
    `sha256=${digest}, sha256=${digest}`,
    sign(sent, 'another'),
    sign(sent, ''),
    sign(`${sent} `),
  ]
  for (const signature of signatures) {
    for (const key of [appKey, null]) {
      const headers: Record<string, string> = signature === null
        ? {}
        : { 'x-hub-signature-256': signature }
      const { status, batches } = await send({ headers, key })
      expect([signature, status, batches]).toEqual([signature, 401, []])
    }
  }
})

Deno.test('either of two secrets will do while one replaces the other', async () => {
  const both = { ...app, secrets: ['newer', secret] }
  expect((await send({ app: both })).status).toBe(200)
})

Deno.test('a callback that a new secret signed is stored, although the app was read before', async () => {
  const newer = { ...app, id: '78', secrets: ['newer'] }
  const replies: AppReply[] = [{ ok: true, app }, { ok: true, app: newer }]
  const sent = JSON.stringify(body)
  const headers = { 'x-hub-signature-256': sign(sent, 'newer') }
  const { status, batches } = await send({ headers, replies })
  expect([status, batches.map(({ appId }) => appId)]).toEqual([200, ['78']])
})

Deno.test('a secret that has ended is refused at once, although the app was read before', async () => {
  const newer = { ...app, secrets: ['newer'] }
  const { status, asked, batches } = await send({ kept: app, app: newer })
  expect([status, asked, batches]).toEqual([401, [appKey], []])
  const open = { ...app, allowUnsigned: true }
  expect(await send({ kept: open, app, headers: {} })).toMatchObject({ status: 401, batches: [] })
  expect(await send({ kept: app, app: null })).toMatchObject({ status: 401, batches: [] })
})

Deno.test('what an app has begun to accept is accepted, although the app was read before', async () => {
  const open = { ...app, allowUnsigned: true }
  expect(await send({ kept: app, app: open, headers: {} })).toMatchObject({ status: 200 })
  const bare = { ...app, secrets: [] }
  expect(await send({ kept: bare, app })).toMatchObject({ status: 200 })
})

Deno.test('a valid callback for an app that was read before asks the database once', async () => {
  expect(await send({ kept: app })).toMatchObject({ status: 200, asked: [appKey] })
  const failed = await send({ kept: app, findsNothing: true })
  expect([failed.status, failed.batches]).toEqual([503, []])
})

Deno.test('an app that cannot be read again is 503, and one that is gone 401', async () => {
  const headers = { 'x-hub-signature-256': sign('other') }
  const failure: AppReply = { ok: false, error: 'outbox.callback_app fails with 0' }
  for (const [again, status] of [[failure, 503], [{ ok: true, app: null }, 401]] as const) {
    const outcome = await send({ headers, replies: [{ ok: true, app }, again] })
    expect([outcome.status, outcome.batches]).toEqual([status, []])
  }
})

Deno.test('a callback is 503 with Retry-After while too many unknown apps are looked up', async () => {
  const response = toResponse(
    await receiveCallback(
      new Request('https://x.test/', {
        method: 'POST',
        headers: { 'x-hub-signature-256': sign('') },
        body: 'unread',
      }),
      appKey,
      {
        bodies: createBodyRoom(unverifiedBodies),
        apps: {
          find: () => Promise.resolve('busy'),
          findAgain: () => Promise.resolve(null),
          confirm: () => Promise.reject(new Error('confirmed')),
        },
        database: { store: () => Promise.reject(new Error('stored')) },
        bodyMs: 1,
        log: () => {
          throw new Error('logged')
        },
      },
    ),
  )
  await response.body?.cancel()
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
})

Deno.test('an app without a secret is 503, because no signature can be verified', async () => {
  const bare = { ...app, secrets: [] }
  for (const headers of [undefined, {}]) {
    const { status, batches } = await send({
      app: bare,
      ...headers === undefined ? {} : { headers },
    })
    expect([status, batches]).toEqual([503, []])
  }
})

Deno.test('only an app that allows it accepts an unsigned callback', async () => {
  const open = { ...app, allowUnsigned: true }
  expect((await send({ app: open, headers: {} })).status).toBe(200)
  expect((await send({ app, headers: {} })).status).toBe(401)
  const forged = { 'x-hub-signature-256': sign('other') }
  expect((await send({ app: open, headers: forged })).status).toBe(401)
  const malformed = { 'x-hub-signature-256': 'sha256=none' }
  expect((await send({ app: open, headers: malformed })).status).toBe(401)
})

Deno.test('an unknown key is 401, and a malformed key or signature causes no lookup', async () => {
  expect((await send({ app: null })).status).toBe(401)
  for (const key of ['', 'short', 'a'.repeat(65), "';select pg_sleep(9)--", '../../inbound']) {
    const { status, asked } = await send({ key })
    expect([key, status, asked]).toEqual([key, 401, []])
  }
  for (const signature of ['', 'none', 'sha1=0', 'sha256=0', `sha256=${'g'.repeat(64)}`]) {
    const { status, asked } = await send({ headers: { 'x-hub-signature-256': signature } })
    expect([signature, status, asked]).toEqual([signature, 401, []])
  }
})

Deno.test('without a key the app of the shared address is used; 503 if there is none', async () => {
  const { status, asked, batches } = await send({ key: null })
  expect([status, asked]).toEqual([200, [null]])
  expect(batches.map(({ appId }) => appId)).toEqual(['77'])
  const none = await send({ key: null, app: null })
  expect(none.status).toBe(503)
  expect(none.text).toContain('whatsapp.shared_app')
})

Deno.test('nothing of a body is read before its app is known and its length allowed', async () => {
  let pulls = 0
  const unread = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      pull(): never {
        pulls++
        throw new Error('the body was read')
      },
    }, { highWaterMark: 0 })
  const signed = { 'x-hub-signature-256': sign('') }
  const refused: [setting: Setting, status: number][] = [
    [{ headers: {} }, 401],
    [{ headers: { 'x-hub-signature-256': 'sha256=0' } }, 401],
    [{ headers: signed, key: 'short' }, 401],
    [{ headers: signed, app: null }, 401],
    [{ headers: signed, app: null, key: null }, 503],
    [{ headers: signed, app: { ...app, secrets: [] } }, 503],
    [{ headers: signed, findsNothing: true }, 503],
    [{ headers: { ...signed, 'content-length': String(maxBytes + 1) } }, 413],
    [{ headers: { ...signed, 'content-length': '1e1' } }, 413],
    [{ headers: { 'content-length': String(maxUnsignedBytes + 1) } }, 413],
  ]
  for (const [setting, status] of refused) {
    const outcome = await send({ ...setting, body: unread() })
    expect([setting, outcome.status, outcome.batches]).toEqual([setting, status, []])
  }
  expect(pulls).toBe(0)
})

Deno.test('a body is parsed only after its signature is verified', async () => {
  const parse = JSON.parse
  let parsed = 0
  try {
    JSON.parse = (...args) => {
      parsed++
      return parse(...args)
    }
    const forged = { 'x-hub-signature-256': sign('other') }
    for (const key of [appKey, null]) {
      expect((await send({ headers: forged, key })).status).toBe(401)
    }
    expect(parsed).toBe(0)
    await send()
    expect(parsed).toBeGreaterThan(0)
  } finally {
    JSON.parse = parse
  }
})

Deno.test('a body without a signature may have 64 KiB, whatever its content-length is', async () => {
  const open = { ...app, allowUnsigned: true }
  const padded = (bytes: number): string => `{"entry":[],"pad":"${'x'.repeat(bytes - 21)}"}`
  expect((await send({ app: open, headers: {}, body: padded(maxUnsignedBytes) })).status).toBe(200)
  expect((await send({ app: open, headers: {}, body: padded(maxUnsignedBytes + 1) })).status)
    .toBe(413)
})

Deno.test('x-org-id goes along, to narrow whose updates are applied', async () => {
  const headers = { 'x-hub-signature-256': sign(JSON.stringify(body)), 'x-org-id': 'org-9' }
  expect((await send({ headers })).batches.map(({ orgId }) => orgId)).toEqual(['org-9'])
})

Deno.test('an empty x-org-id is the same as none', async () => {
  for (const empty of ['', '  ']) {
    const headers = { 'x-hub-signature-256': sign(JSON.stringify(body)), 'x-org-id': empty }
    expect((await send({ headers })).batches.map(({ orgId }) => orgId)).toEqual([null])
  }
})

Deno.test('a signed body that is no JSON object is 400', async () => {
  for (const sent of ['', '[]', '{"entry":', '"x"', `{"a":${'['.repeat(1e6)}`]) {
    const { status, batches } = await send({ body: sent })
    expect([status, batches]).toEqual([400, []])
  }
})

Deno.test('a body of 3 MB is accepted, and one byte more is 413', async () => {
  const padded = (bytes: number): string => `{"entry":[],"pad":"${'x'.repeat(bytes - 21)}"}`
  expect((await send({ body: padded(maxBytes) })).status).toBe(200)
  const { status, batches } = await send({ body: padded(maxBytes + 1) })
  expect([status, batches]).toEqual([413, []])
  const many = JSON.stringify({ entry: Array(5_001).fill(0) })
  expect((await send({ body: many })).status).toBe(413)
})

Deno.test('a body nested 64 deep is accepted, and one nested 65 deep is 400', async () => {
  const nested = (levels: number): string =>
    `{"entry":[],"pad":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  expect((await send({ body: nested(64) })).status).toBe(200)
  expect((await send({ body: nested(65) })).status).toBe(400)
})

Deno.test('a body that does not come in time is 408', async () => {
  const endless = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
  })
  const open = { ...app, allowUnsigned: true }
  expect((await send({ app: open, body: endless, headers: {}, bodyMs: 50 })).status).toBe(408)
})

Deno.test('what the database cannot take is 503, so that WhatsApp comes again', async () => {
  expect((await send({ findsNothing: true })).status).toBe(503)
  const failure = { ok: false, error: 'outbox.receive_callbacks answers 500 57014' } as const
  const { status, log } = await send({ stored: failure })
  expect(status).toBe(503)
  expect(log).toContain('57014')
})

Deno.test('no response and no log line quotes the callback', async () => {
  for (const stored of [undefined, { ok: true, counts, warnings: 3 } as const]) {
    const { text, log } = await send(stored === undefined ? {} : { stored })
    expect(text + log).not.toMatch(/SECRETNUMBER|12025550111|app-secret|Zoé/)
    if (stored !== undefined) expect(log).toContain('"warnings":3')
  }
})

Deno.test('every shape of a callback is stored when it is signed', async () => {
  for (const shape of shapes) {
    const sent = typeof shape.body === 'string' ? shape.body : JSON.stringify(shape.body)
    const { status, batches } = await send({ body: sent })
    expect([shape.name, status]).toEqual([shape.name, 200])
    expect(batches[0]?.updates).toHaveLength(shape.updates.length)
  }
})

Deno.test("a callback's refusals have codes of the API", () => {
  const codes: CallbackCode[] = [
    'invalid_argument',
    'unauthenticated',
    'forbidden',
    'request_timeout',
    'too_large',
    'not_configured',
    'unavailable',
  ]
  expect(Object.keys(errorCodes)).toEqual(expect.arrayContaining(codes))
})

Deno.test('a callback that never ends is cut when later callbacks need its memory', async () => {
  const limit = maxBytes + 2 * bytesOfRequest
  const bodies = createBodyRoom({ mostOfKey: limit, mostOfAll: limit })
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(maxBytes)),
  })
  const slow = send({ body: endless, headers: { 'x-hub-signature-256': sign('') }, bodies })
  // Until the first piece of the slow body is counted.
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect((await send({ bodies })).status).toBe(200)
  const { status, text, batches } = await slow
  expect([status, JSON.parse(text).code, batches]).toEqual([503, 'unavailable', []])
})
