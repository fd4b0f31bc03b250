/** Messages from the API's call to the audit trail, through a Graph API that behaves as Meta's. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { type Graph, startGraph, type Taken } from '../../supabase/local/whatsapp/graph.ts'

let outhook: TestOuthook
let graph: Graph
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

/** The numbers of the tests: one an organisation, the first two under one Meta app. */
const tenants = {
  'org-a': { number: '101', app: '1' },
  'org-b': { number: '102', app: '1' },
  'org-c': { number: '103', app: '2' },
} as const
type Org = keyof typeof tenants
const channels = {} as Record<Org, string>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver', 'api', 'whatsapp'] })
  call = apiCaller(outhook)
  const numbers = Object.values(tenants).map(({ number }) => [number, { token: `token-${number}` }])
  graph = startGraph({ numbers: Object.fromEntries(numbers) })
  await outhook.sql`
    select outbox.set_setting('whatsapp.graph_url', to_jsonb(${graph.url}::text)),
      outbox.put_whatsapp_app('1', 'secret-1'),
      outbox.put_whatsapp_app('2', 'secret-2')`
  for (const [org, { number, app }] of Object.entries(tenants)) {
    const headers = { 'x-org-id': org }
    const channel = await call('POST /channels', {
      headers,
      body: {
        phoneNumberId: number,
        wabaId: '9',
        appId: app,
        accessToken: `token-${number}`,
        // Six seconds between two messages to one person would be spent waiting here.
        pairSeconds: 0,
      },
    })
    expect(channel).toMatchObject({ status: 201, body: { isDefault: true, status: 'enabled' } })
    // SAFETY: the keys of tenants.
    channels[org as Org] = channel.body.id
    const template = { name: 'appointment_reminder', language: 'fr', category: 'UTILITY' }
    expect(await call('PUT /templates/reminder', { headers, body: template }))
      .toMatchObject({ status: 200, body: { code: 'reminder', parameterFormat: 'POSITIONAL' } })
  }
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
  await graph?.close()
})

let people = 0

/** A person's number that no other test has. */
function somebody(): string {
  return `+120255${String(50_000 + people++)}`
}

type Over = { body?: Record<string, unknown>; key?: string; org?: Org }

async function create(
  to: string,
  { body = {}, key, org = 'org-a' }: Over = {},
): Promise<ApiAnswer> {
  return await call('POST /outbound/messages', {
    headers: { 'x-org-id': org, ...key === undefined ? {} : { 'idempotency-key': key } },
    body: {
      channel: 'WHATSAPP',
      to,
      templateCode: 'reminder',
      payloadJson: { parameters: ['Anna'] },
      ...body,
    },
  })
}

async function get(path: string, org: Org = 'org-a'): Promise<ApiAnswer['body']> {
  return (await call(`GET ${path}`, { headers: { 'x-org-id': org } })).body
}

async function post(path: string, org: Org = 'org-a', body?: unknown): Promise<ApiAnswer> {
  return await call(`POST ${path}`, {
    headers: { 'x-org-id': org },
    ...body === undefined ? {} : { body },
  })
}

/** The message once its status is that one. */
async function settled(id: string, status: string, org: Org = 'org-a'): Promise<ApiAnswer['body']> {
  let message: ApiAnswer['body'] = null
  const isThere = await waitUntil(async () => {
    message = await get(`/outbound/messages/${id}`, org)
    return message.status === status
  }, { timeoutMs: patienceMs, everyMs: 100 })
  if (!isThere) throw new Error(`message ${id} is ${message.status}, not ${status}`)
  return message
}

function takenFor(to: string): Taken[] {
  return graph.taken.filter(({ body }) => body.to === to)
}

/** What the audit trail says of a message, the first thing first. */
async function trail(type: string, id: string, org: Org = 'org-a'): Promise<string[]> {
  const { data } = await get(`/audit-events?entityType=${type}&entityId=${id}`, org)
  return data.map(({ action, details }: Record<string, string>) => `${action} ${details}`).reverse()
}

async function consent(dossierId: string, granted: boolean): Promise<void> {
  const body = { channel: 'WHATSAPP', purposes: ['UTILITY'], granted, source: 'web form' }
  const { status, body: { data: [last] } } = await post(
    `/dossiers/${dossierId}/consents`,
    'org-a',
    body,
  )
  expect([status, last]).toMatchObject([201, { granted, inForce: true }])
}

Deno.test('a message is queued, sent, and told of in audit and activity', async () => {
  const to = somebody()
  await consent('dossier-1', true)
  const created = await create(to, { body: { dossierId: 'dossier-1' }, key: 'first' })
  expect(created).toMatchObject({
    status: 201,
    body: { status: 'QUEUED', attemptCount: 0, to, idempotencyKey: 'first' },
  })
  const { id } = created.body
  const message = await settled(id, 'SENT')
  const [taken] = takenFor(to)
  expect(message).toMatchObject({
    attemptCount: 1,
    providerMessageId: taken?.wamid,
    attempts: [{ attemptNo: 1, status: 'SUCCESS', nextRetryAt: null }],
  })
  expect(taken).toMatchObject({
    number: '101',
    body: {
      to,
      biz_opaque_callback_data: `ob1:${id}:1`,
      template: {
        name: 'appointment_reminder',
        language: { code: 'fr' },
        components: [{ type: 'body', parameters: [{ type: 'text', text: 'Anna' }] }],
      },
    },
  })
  expect(await trail('OUTBOUND_MESSAGE', id)).toEqual([
    'CREATED Message created',
    'SENT Message sent successfully',
  ])
  expect((await get('/dossiers/dossier-1/activity')).data)
    .toMatchObject([{ type: 'MESSAGE_SENT', metadata: { messageId: id } }])
})

Deno.test('a message is found by its correlation id, with its event, delivery and audit trail', async () => {
  const to = somebody()
  const created = await create(to, { body: { correlationId: 'cart-7' } })
  expect(created).toMatchObject({ status: 201, body: { correlationId: 'cart-7' } })
  const { id } = created.body
  expect(await settled(id, 'SENT')).toMatchObject({ correlationId: 'cart-7' })
  const found = await get('/search?correlationId=cart-7')
  expect(found).toMatchObject({
    events: [{ type: 'outhook.message', correlationId: 'cart-7' }],
    deliveries: [{ status: 'delivered' }],
    messages: [{ id }],
    auditEvents: [{ action: 'SENT', correlationId: 'cart-7' }, { action: 'CREATED', entityId: id }],
    more: false,
  })
  expect((await get('/outbound/messages?correlationId=cart-7')).data).toMatchObject([{ id }])
  expect((await get('/audit-events?correlationId=cart-7')).data).toHaveLength(2)
  expect(await get('/search?correlationId=cart-7', 'org-b')).toMatchObject({ messages: [] })
  expect(await create(to, { body: { correlationId: 'two words' } }))
    .toMatchObject({ status: 400, body: { field: 'correlationId' } })
})

Deno.test('one key makes one message, however many ask at once', async () => {
  const to = somebody()
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(to, { key: 'same' })))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(await create(somebody(), { key: 'same' }))
    .toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
  const other = await create(to, { key: 'same', org: 'org-b' })
  expect(other.status).toBe(201)
  await settled(answers[0]?.body.id, 'SENT')
  await settled(other.body.id, 'SENT', 'org-b')
  expect(takenFor(to).map(({ number }) => number).sort()).toEqual(['101', '102'])
})

Deno.test('a message without consent is refused, audited, and uses up no key', async () => {
  const to = somebody()
  const over = { body: { dossierId: 'dossier-2' }, key: 'asked' }
  expect(await create(to, over))
    .toMatchObject({ status: 403, body: { code: 'consent_required', detail: 'Consent required' } })
  expect(await trail('DOSSIER', 'dossier-2')).toEqual(['BLOCKED_BY_POLICY Consent required'])
  await consent('dossier-2', true)
  const { status, body } = await create(to, over)
  expect(status).toBe(201)
  await settled(body.id, 'SENT')
})

Deno.test('consent that is taken back fails what waits, unsent', async () => {
  const to = somebody()
  await consent('dossier-3', true)
  await post(`/endpoints/${channels['org-a']}/pause`, 'org-a', {})
  const { body } = await create(to, { body: { dossierId: 'dossier-3' } })
  await consent('dossier-3', false)
  await post(`/endpoints/${channels['org-a']}/resume`)
  expect(await settled(body.id, 'FAILED')).toMatchObject({ errorCode: 'consent_revoked' })
  expect(takenFor(to)).toEqual([])
  expect(await trail('DOSSIER', 'dossier-3')).toContain('BLOCKED_BY_POLICY Consent required')
})

Deno.test('only a template is taken outside the 24-hour window', async () => {
  const to = somebody()
  const body = { templateCode: undefined, payloadJson: { type: 'text', text: 'Hello' } }
  expect(await create(to, { body })).toMatchObject({
    status: 403,
    body: { code: 'outside_window' },
  })
  await outhook.sql`select outbox.open_window(${channels['org-a']},
    outbox.save_person('org-a', array[outbox.identifier_of(${to})], now()), now())`
  const created = await create(to, { body })
  await settled(created.body.id, 'SENT')
  expect(takenFor(to)).toMatchObject([{ body: { type: 'text', text: { body: 'Hello' } } }])
})

Deno.test('POST /outbound/messages names the field that is wrong', async () => {
  const text = { templateCode: undefined }
  const rows: [Record<string, unknown>, string][] = [
    [{ to: '2025550111' }, 'to'],
    [{ channel: 'SMS' }, 'channel'],
    [{ templateCode: 'no.such' }, 'templateCode'],
    [{ payloadJson: { parameters: [''] } }, 'payloadJson.parameters.0'],
    [{ ...text, payloadJson: { type: 'text', text: 'x'.repeat(4097) } }, 'payloadJson.text'],
    [{ ...text, payloadJson: { type: 'image', link: 'http://a.b/c' } }, 'payloadJson.link'],
    [{ dossier: '7' }, 'dossier'],
  ]
  for (const [body, field] of rows) {
    expect([body, await create(somebody(), { body })])
      .toMatchObject([body, { status: 400, body: { code: 'invalid_argument', field } }])
  }
})

Deno.test('a message that WhatsApp refuses fails, and can be sent again', async () => {
  const to = somebody()
  const details = `Message undeliverable to ${to}`
  graph.setTurn((body) =>
    body.to === to ? { kind: 'refuse', fault: { code: 131026, details } } : { kind: 'take' }
  )
  await consent('dossier-4', true)
  const { body: { id } } = await create(to, { body: { dossierId: 'dossier-4' } })
  expect(await settled(id, 'FAILED')).toMatchObject({
    errorCode: '131026',
    attempts: [{ status: 'FAILED', errorCode: '131026', nextRetryAt: null }],
  })
  const words = 'WhatsApp refuses with error 131026: Message undeliverable to …'
  expect(await trail('OUTBOUND_MESSAGE', id)).toContain(`FAILED Message failed: ${words}`)
  expect((await get('/dossiers/dossier-4/activity')).data)
    .toMatchObject([{ type: 'MESSAGE_FAILED', metadata: { errorCode: '131026' } }])
  graph.setTurn(() => ({ kind: 'take' }))
  expect(await post(`/outbound/messages/${id}/resend`))
    .toMatchObject({ status: 200, body: { status: 'QUEUED', errorCode: null } })
  expect((await settled(id, 'SENT')).attempts.map(({ status }: { status: string }) => status))
    .toEqual(['FAILED', 'SUCCESS'])
  expect(await post(`/outbound/messages/${id}/resend`))
    .toMatchObject({ status: 409, body: { code: 'wrong_state' } })
})

Deno.test('a token that has expired holds its channel alone, until there is a new one', async () => {
  const path = `/channels/${channels['org-c']}`
  const headers = { 'x-org-id': 'org-c' }
  const setToken = (accessToken: string): Promise<ApiAnswer> =>
    call(`PUT ${path}/access-token`, { headers, body: { accessToken } })
  expect((await setToken('expired')).status).toBe(200)
  const { body: { id } } = await create(somebody(), { org: 'org-c' })
  const isHeld = async (): Promise<boolean> => (await get(path, 'org-c')).status === 'paused'
  expect(await waitUntil(isHeld, { timeoutMs: patienceMs, everyMs: 100 })).toBe(true)
  expect(await get(path, 'org-c')).toMatchObject({
    statusReason: expect.stringMatching(/^held: 190/),
  })
  expect(await get(`/outbound/messages/${id}`, 'org-c')).toMatchObject({ status: 'QUEUED' })
  const free = await create(somebody())
  await settled(free.body.id, 'SENT')
  await setToken('token-103')
  expect(await post(`${path}/resume`, 'org-c'))
    .toMatchObject({ status: 200, body: { status: 'enabled', statusReason: null } })
  await settled(id, 'SENT', 'org-c')
  expect(graph.taken.filter(({ number }) => number === '103')).toHaveLength(1)
})

Deno.test('a message that waits can be cancelled, and is never sent', async () => {
  const to = somebody()
  await post(`/endpoints/${channels['org-b']}/pause`, 'org-b', {})
  const { body: { id } } = await create(to, { org: 'org-b' })
  expect(await call(`POST /outbound/messages/${id}/cancel`, { headers: { 'x-org-id': 'org-a' } }))
    .toMatchObject({ status: 404 })
  expect(await post(`/outbound/messages/${id}/cancel`, 'org-b'))
    .toMatchObject({ status: 200, body: { status: 'CANCELLED' } })
  await post(`/endpoints/${channels['org-b']}/resume`, 'org-b')
  const after = await create(somebody(), { org: 'org-b' })
  await settled(after.body.id, 'SENT', 'org-b')
  expect(takenFor(to)).toEqual([])
  expect(await post(`/outbound/messages/${id}/cancel`, 'org-b')).toMatchObject({ status: 409 })
})

Deno.test('a lost answer makes no second message when a callback names the first', async () => {
  const to = somebody()
  graph.setTurn((body) => ({ kind: body.to === to ? 'lose' : 'take' }))
  const { body: { id } } = await create(to)
  const isBack = async (): Promise<boolean> => {
    const { status, attempts } = await get(`/outbound/messages/${id}`)
    return status === 'QUEUED' && attempts.length === 1 && attempts[0].nextRetryAt !== null
  }
  expect(await waitUntil(isBack, { timeoutMs: patienceMs, everyMs: 100 })).toBe(true)
  graph.setTurn(() => ({ kind: 'take' }))
  const { attempts: [attempt] } = await get(`/outbound/messages/${id}`)
  const wait = Date.parse(attempt.nextRetryAt) - Date.parse(attempt.updatedAt)
  expect(wait).toBeGreaterThanOrEqual(600_000)
  const wamid = takenFor(to)[0]?.wamid ?? ''
  const [row] = await outhook.sql`
    select outbox.mark_sent_late(${`ob1:${id}:1`}, ${wamid}) as adopted`
  expect(row?.adopted).toBe('adopted')
  expect(await get(`/outbound/messages/${id}`))
    .toMatchObject({ status: 'SENT', providerMessageId: wamid })
  const [left] = await outhook.sql`
    select count(*)::int as open from outbox.delivery d
    join outbox.outbound_message m on m.event_id = d.event_id where m.id = ${id}::bigint`
  expect(left?.open).toBe(0)
  expect(takenFor(to)).toHaveLength(1)
})

Deno.test('an opt-out of a user id holds for the number of the person, until the people are parted', async () => {
  const headers = { 'x-org-id': 'org-a' }
  const to = '+12025550177'
  await outhook.sql`select outbox.save_person('org-a', array[${to}, 'US.177'], now())`
  expect(await call('PUT /opt-outs/US.177', { headers, body: { source: 'letter' } }))
    .toMatchObject({ status: 200, body: { isNew: true } })
  expect(await create(to)).toMatchObject({ status: 403, body: { code: 'opted_out' } })
  expect(await get('/opt-outs?recipient=12025550177'))
    .toMatchObject({ data: [{ recipients: [to, 'US.177'], source: 'letter' }] })
  expect(await call('POST /people/part', { headers, body: { recipients: ['US.177'] } }))
    .toMatchObject({
      status: 200,
      body: { person: { recipients: [to] }, parted: { recipients: ['US.177'] } },
    })
  expect(await get('/people/US.177')).toMatchObject({ optOuts: [{ purpose: 'ALL' }] })
  expect(await call('DELETE /opt-outs/US.177', { headers }))
    .toMatchObject({ status: 200, body: { isNew: true } })
  expect(await call('GET /people/US.178', { headers })).toMatchObject({ status: 404 })
  expect(await call('PUT /opt-outs/someone', { headers, body: { source: 'x' } }))
    .toMatchObject({ status: 400 })
  expect(await create(to)).toMatchObject({ status: 403 })
  expect(await call('DELETE /opt-outs/12025550177', { headers }))
    .toMatchObject({ status: 200, body: { isNew: true } })
})

Deno.test('an opt-out holds for both spellings of a number, until it is taken back', async () => {
  const headers = { 'x-org-id': 'org-a' }
  const path = `/opt-outs/${encodeURIComponent('+55 11 8765-4321')}`
  const optOut = { purpose: 'ALL', source: 'phone call', evidence: 'note 7' }
  expect(await call(`PUT ${path}`, { headers, body: optOut }))
    .toMatchObject({ status: 200, body: { optedOut: true, purpose: 'ALL', isNew: true } })
  expect(await create('+5511987654321'))
    .toMatchObject({ status: 403, body: { code: 'opted_out' } })
  expect(await get('/opt-outs?limit=1')).toMatchObject({
    data: [{
      recipient: '+5511987654321',
      recipients: ['+5511987654321'],
      purpose: 'ALL',
      source: 'phone call',
      evidence: 'note 7',
    }],
    nextCursor: null,
  })
  expect((await get('/opt-outs', 'org-b')).data).toEqual([])
  expect(await call(`DELETE ${path}`, { headers }))
    .toMatchObject({ status: 200, body: { optedOut: false, isNew: true } })
  const { status, body } = await create('+5511987654321')
  expect(status).toBe(201)
  await settled(body.id, 'SENT')
})

Deno.test('a channel is changed and deleted, and its app rotates its secret', async () => {
  const headers = { 'x-org-id': 'org-d' }
  const app = { secret: 'secret-of-the-app-1' }
  const put = await call('PUT /whatsapp-apps/4', { headers, body: app })
  expect(put).toMatchObject({ status: 200, body: { appId: '4', allowUnsigned: false, secrets: 1 } })
  const next = { secret: 'secret-of-the-app-2', overlapSeconds: 3600 }
  const rotated = await call('PUT /whatsapp-apps/4', { headers, body: next })
  expect(rotated).toMatchObject({ status: 200, body: { appKey: put.body.appKey, secrets: 2 } })
  expect(JSON.stringify([put, rotated])).not.toContain('secret-of')
  const channel = await call('POST /channels', {
    headers,
    body: { phoneNumberId: '104', wabaId: '9', appId: '4', accessToken: 'token-104' },
  })
  const path = `/channels/${channel.body.id}`
  const change = { messagesPerSecond: 20, pairSeconds: 1, graphVersion: 'v26.0' }
  expect(await call(`PATCH ${path}`, { headers, body: change }))
    .toMatchObject({ status: 200, body: { ...change, description: '', isDefault: true } })
  expect(await call(`PATCH ${path}`, { headers, body: { graphVersion: '26' } }))
    .toMatchObject({ status: 400, body: { field: 'graphVersion' } })
  expect(await call(`PATCH /endpoints/${channel.body.id}`, { headers, body: { quantum: 9 } }))
    .toMatchObject({ status: 409, body: { code: 'wrong_state' } })
  expect(await call(`DELETE ${path}`, { headers })).toMatchObject({
    status: 200,
    body: { open: 0 },
  })
  expect(await call(`GET ${path}`, { headers })).toMatchObject({ status: 404 })
})

Deno.test('the audit trail comes in pages, the last of which says so', async () => {
  const { body: { data } } = await call('GET /audit-events', { headers: { 'x-org-id': 'org-d' } })
  const actions: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await call(`GET /audit-events?limit=1${query}`, {
      headers: { 'x-org-id': 'org-d' },
    })
    actions.push(...body.data.map(({ action }: { action: string }) => action))
    cursor = body.nextCursor
  }
  expect(actions).toEqual(data.map(({ action }: { action: string }) => action))
  expect(actions).toEqual(['DELETED', 'UPDATED', 'CREATED'])
})

Deno.test('each message leaves by the number of its organisation', async () => {
  const orgs: Org[] = ['org-a', 'org-b', 'org-c']
  for (const org of orgs) {
    const to = somebody()
    const { body: { id } } = await create(to, { org })
    await settled(id, 'SENT', org)
    expect(takenFor(to).map(({ number }) => number)).toEqual([tenants[org].number])
    const listed = await get('/outbound/messages?status=SENT&limit=1', org)
    expect(listed).toMatchObject({ data: [{ id }], nextCursor: expect.any(String) })
    const counts = await get('/outbound/messages/counts', org)
    expect(counts.SENT).toBeGreaterThan(0)
    const other = org === 'org-a' ? 'org-b' : 'org-a'
    expect(await call(`GET /outbound/messages/${id}`, { headers: { 'x-org-id': other } }))
      .toMatchObject({ status: 404, body: { code: 'not_found' } })
  }
})

Deno.test('no log holds a number, an id of WhatsApp, or a token', () => {
  const log = outhook.log.join('\n')
  expect(log).toContain('attempt')
  expect(log).not.toMatch(/120255\d{5}|wamid\.|token-10\d/)
})
