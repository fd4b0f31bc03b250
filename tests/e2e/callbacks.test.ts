/** WhatsApp's callbacks, from a Graph API that signs and posts them to what a message becomes. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { verifyToken } from '../../functions/_shared/messages/callbacks/token.ts'
import { patienceMs } from '../_support/outhook.ts'
import { startWhatsapp, tenants, type TestWhatsapp } from '../_support/whatsapp.ts'
import {
  bodyOf,
  changeOf,
  postCallback,
  statusOf,
} from '../../supabase/local/whatsapp/callbacks.ts'
import type { Taken } from '../../supabase/local/whatsapp/graph.ts'

let wa: TestWhatsapp

Deno.test.beforeAll(async () => {
  wa = await startWhatsapp()
})
Deno.test.afterAll(async () => {
  await wa?.stop()
})

async function consent(dossierId: string): Promise<void> {
  const body = { channel: 'WHATSAPP', purposes: ['UTILITY'], granted: true, source: 'web form' }
  const { status } = await wa.call('org-a', `POST /dossiers/${dossierId}/consents`, body)
  expect(status).toBe(201)
}

/** A message that WhatsApp has taken, and what it has taken. */
async function sent(
  body: Record<string, unknown> = {},
): Promise<{ id: string; taken: Taken; to: string }> {
  const to = wa.somebody()
  const id = await wa.create('org-a', to, body)
  await wa.settled('org-a', id, 'SENT')
  const [taken] = await wa.takenFor(to)
  if (taken === undefined) throw new Error('nothing was taken')
  return { id, taken, to }
}

function updated(status: string): string {
  return `UPDATED Delivery status updated to: ${status}`
}

Deno.test('sent, delivered and read move a message, and audit and activity tell of each', async () => {
  await consent('dossier-1')
  const { id, taken } = await sent({ dossierId: 'dossier-1' })
  for (const status of ['sent', 'delivered', 'read'] as const) {
    expect(await wa.graph.report(taken, status))
      .toMatchObject({ status: 200, body: { stored: 1, duplicates: 0 } })
  }
  expect(await wa.settled('org-a', id, 'DELIVERED')).toMatchObject({
    providerMessageId: taken.wamid,
    deliveredAt: expect.any(String),
    readAt: expect.any(String),
    attempts: [{ status: 'SUCCESS' }],
  })
  const trail = await wa.trail('org-a', id)
  expect(trail.slice(0, 2)).toEqual([
    'CREATED Message created',
    'SENT Message sent successfully',
  ])
  expect(trail).toEqual(expect.arrayContaining([updated('delivered'), updated('read')]))
  const { body } = await wa.call('org-a', 'GET /dossiers/dossier-1/activity')
  const types = body.data.map(({ type }: { type: string }) => type)
  expect(types).toEqual(expect.arrayContaining(['MESSAGE_SENT', 'MESSAGE_STATUS_UPDATE']))
  expect(types).not.toContain('MESSAGE_FAILED')
})

Deno.test('in another order, twice, and in another batch: the same message comes of it', async () => {
  const { id, taken } = await sent()
  const number = tenants['org-a'].number
  const [one, two, three] = [
    statusOf(taken, 'read', { timestamp: '1790000003' }),
    statusOf(taken, 'delivered', { timestamp: '1790000002' }),
    statusOf(taken, 'sent', { timestamp: '1790000001' }),
  ]
  const batches = [[one], [one, two], [three, two, one], [two]]
  const answers = await Promise.all(
    batches.map((statuses) =>
      postCallback(
        wa.target('org-a'),
        bodyOf(tenants['org-a'].waba, [changeOf(number, { statuses })]),
      )
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const sum = (name: string): number => answers.reduce((n, { body }) => n + Number(body[name]), 0)
  expect([sum('stored'), sum('duplicates')]).toEqual([3, 4])
  await wa.settled('org-a', id, 'DELIVERED')
  const trail = await wa.trail('org-a', id)
  expect(trail.filter((line) => line === updated('read'))).toHaveLength(1)
})

Deno.test('a status that comes before the answer finds its message', async () => {
  const to = wa.somebody()
  wa.graph.setTurn((body) => ({
    kind: 'take',
    ...body.to === to ? { early: ['sent', 'delivered'] } : {},
  }))
  const id = await wa.create('org-a', to)
  await wa.settled('org-a', id, 'DELIVERED')
  wa.graph.setTurn(() => ({ kind: 'take' }))
  const taken = await wa.takenFor(to)
  expect(await wa.settled('org-a', id, 'DELIVERED')).toMatchObject({
    providerMessageId: taken[0]?.wamid,
    attemptCount: 1,
  })
  expect(taken).toHaveLength(1)
})

Deno.test('a status after a lost answer ends the retry: one message, sent once', async () => {
  const to = wa.somebody()
  wa.graph.setTurn((body) => ({ kind: body.to === to ? 'lose' : 'take' }))
  const id = await wa.create('org-a', to)
  const isBack = async (): Promise<boolean> => {
    const { body } = await wa.call('org-a', `GET /outbound/messages/${id}`)
    return body.status === 'QUEUED' && body.attempts.length === 1
  }
  expect(await waitUntil(isBack, { timeoutMs: patienceMs, everyMs: 50 })).toBe(true)
  wa.graph.setTurn(() => ({ kind: 'take' }))
  const [taken] = await wa.takenFor(to)
  if (taken === undefined) throw new Error('nothing was taken')
  expect(await wa.graph.report(taken, 'sent', 'delivered'))
    .toMatchObject({ status: 200, body: { stored: 2 } })
  expect(await wa.settled('org-a', id, 'DELIVERED'))
    .toMatchObject({ providerMessageId: taken.wamid, attemptCount: 1 })
  const [left] = await wa.outhook.sql`
    select count(*)::int as open from outbox.delivery d
    join outbox.outbound_message m on m.event_id = d.event_id where m.id = ${id}::bigint`
  expect(left?.open).toBe(0)
  expect(await wa.takenFor(to)).toHaveLength(1)
})

Deno.test('a failure that is told afterwards fails the message, and is not retried', async () => {
  await consent('dossier-2')
  const { id, taken, to } = await sent({ dossierId: 'dossier-2' })
  const errors = [{
    code: 131026,
    title: 'Message undeliverable',
    error_data: { details: 'The recipient has no WhatsApp' },
  }]
  const failed = { statuses: [statusOf(taken, 'failed', { errors })] }
  expect(await wa.callBack('org-a', failed)).toMatchObject({ status: 200, body: { applied: 1 } })
  expect(await wa.settled('org-a', id, 'FAILED')).toMatchObject({
    errorCode: '131026',
    errorMessage: expect.stringContaining('Message undeliverable'),
  })
  const { body } = await wa.call('org-a', 'GET /dossiers/dossier-2/activity')
  const types = body.data.map(({ type }: { type: string }) => type)
  expect(types).toEqual(expect.arrayContaining(['MESSAGE_STATUS_UPDATE', 'MESSAGE_FAILED']))
  // FAILED is final, and what came late is stored with its reason.
  expect(await wa.graph.report(taken, 'delivered'))
    .toMatchObject({ status: 200, body: { stored: 1, skipped: 1 } })
  expect(await wa.settled('org-a', id, 'FAILED')).toMatchObject({ errorCode: '131026' })
  expect(await wa.takenFor(to)).toHaveLength(1)

  // It arrived after all, so it is sent again only if somebody insists.
  expect(await wa.call('org-a', `POST /outbound/messages/${id}/resend`))
    .toMatchObject({ status: 409, body: { code: 'wrong_state' } })
  expect((await wa.call('org-a', `POST /outbound/messages/${id}/resend?force=true`)).status)
    .toBe(200)
  await wa.settled('org-a', id, 'SENT')
  const [, second] = await wa.takenFor(to)
  await wa.callBack('org-a', { statuses: [statusOf(taken, 'read')] })
  expect(await wa.settled('org-a', id, 'SENT')).toMatchObject({
    providerMessageId: second?.wamid,
    errorCode: null,
  })
})

Deno.test('what is forged, unsigned or of another app changes nothing', async () => {
  const { id, taken } = await sent()
  const value = { statuses: [statusOf(taken, 'delivered')] }
  const signatures = [null, '', `sha256=${'0'.repeat(64)}`, 'sha256=short', 'sha1=abc']
  for (const signature of signatures) {
    expect((await wa.callBack('org-a', value, { signature })).status).toBe(401)
  }
  const unknown = { ...wa.target('org-a'), url: `${wa.target('org-a').url.slice(0, -8)}00000000` }
  const body = bodyOf('901', [changeOf('101', value)])
  expect((await postCallback(unknown, body)).status).toBe(401)
  const wrong = { ...wa.target('org-a'), secret: 'secret-2' }
  expect((await postCallback(wrong, body)).status).toBe(401)
  // Genuine, but of the app of org-c, which has no say in a number of another app.
  expect(await postCallback(wa.target('org-c'), body))
    .toMatchObject({ status: 200, body: { stored: 1, applied: 0, skipped: 1 } })
  // The same app, but another organisation's number.
  expect(await postCallback(wa.target('org-a'), bodyOf('901', [changeOf('102', value)])))
    .toMatchObject({ status: 200, body: { applied: 0 } })
  expect(await wa.settled('org-a', id, 'SENT')).toMatchObject({ deliveredAt: null })
  expect(await wa.trail('org-a', id)).not.toContain(updated('delivered'))
})

Deno.test('the path of spec 2 takes only callbacks of its one app, and X-Org-Id can only narrow the organisation', async () => {
  const { id, taken } = await sent()
  const url = `${wa.outhook.stack.apiUrl}/functions/v1/api/v1/webhooks/whatsapp/inbound`
  const target = { ...wa.target('org-a'), url }
  const value = { statuses: [statusOf(taken, 'delivered', { timestamp: '1790000001' })] }
  const body = bodyOf('901', [changeOf('101', value)])
  expect((await postCallback(target, body)).status).toBe(503)
  await wa.outhook.sql`
    select outbox.set_setting('whatsapp.shared_app', to_jsonb(${tenants['org-a'].app}::text))`
  // That it has no app is kept for a second.
  const isSet = async (): Promise<boolean> =>
    (await postCallback(target, body, { signature: null })).status === 401
  expect(await waitUntil(isSet, { timeoutMs: patienceMs })).toBe(true)
  expect((await postCallback({ ...target, secret: 'secret-2' }, body)).status).toBe(401)
  expect(await postCallback(target, body, { headers: { 'x-org-id': 'org-b' } }))
    .toMatchObject({ status: 200, body: { stored: 1, skipped: 1 } })
  await wa.settled('org-a', id, 'SENT')
  // Larger than any other body of the API may be.
  const conversation = { id: 'x'.repeat(500_000) }
  const later = {
    statuses: [statusOf(taken, 'delivered', { timestamp: '1790000002', conversation })],
  }
  expect(
    await postCallback(target, bodyOf('901', [changeOf('101', later)]), {
      headers: { 'x-org-id': 'org-a' },
    }),
  ).toMatchObject({ status: 200, body: { applied: 1 } })
  await wa.settled('org-a', id, 'DELIVERED')
})

Deno.test('an app counts its old secret for a while, and says itself whether it takes the unsigned', async () => {
  const { sql, stack } = wa.outhook
  const put = async (id: string, args: string): Promise<string> => {
    const [row] = await sql.unsafe(`select outbox.put_whatsapp_app('${id}', ${args}) as app`)
    return `${stack.apiUrl}/functions/v1/whatsapp/inbound/${row?.app.appKey}`
  }
  const body = bodyOf('901', [changeOf('101', { statuses: [{ id: 'wamid.A', status: 'sent' }] })])
  const post = async (url: string, secret: string | null): Promise<number> =>
    (await postCallback(
      { url, secret: secret ?? '' },
      body,
      secret === null ? { signature: null } : {},
    ))
      .status
  const url = await put('3', "'first'")
  expect(await post(url, 'first')).toBe(200)
  expect(await put('3', "'second'")).toBe(url)
  expect([await post(url, 'first'), await post(url, 'second')]).toEqual([200, 200])
  await put('3', "'third', p_overlap => '0'")
  expect([await post(url, 'second'), await post(url, 'third')]).toEqual([401, 200])
  expect(await post(url, null)).toBe(401)
  await put('3', 'null, true')
  // An app that refuses is read again at most once a second.
  const isOpen = async (): Promise<boolean> => await post(url, null) === 200
  expect(await waitUntil(isOpen, { timeoutMs: patienceMs })).toBe(true)
  expect(await post(url, 'forged')).toBe(401)
  expect(await post(await put('4', 'null'), 'any')).toBe(503)
})

Deno.test('one body of many organisations reaches each, and its bad elements nobody', async () => {
  const [to, other] = [wa.somebody(), wa.somebody()]
  const [a, b] = [await wa.create('org-a', to), await wa.create('org-b', other)]
  await wa.settled('org-a', a, 'SENT')
  await wa.settled('org-b', b, 'SENT')
  const [[forA], [forB]] = [await wa.takenFor(to), await wa.takenFor(other)]
  if (forA === undefined || forB === undefined) throw new Error('nothing was taken')
  const body = bodyOf('901', [
    changeOf('101', { statuses: [7, statusOf(forA, 'delivered'), { status: 'sent' }] }),
    changeOf('102', { statuses: [statusOf(forB, 'read')] }),
    changeOf('999', { statuses: [statusOf(forA, 'failed')] }),
    { field: 'messages' },
  ])
  expect(await postCallback(wa.target('org-a'), body))
    .toMatchObject({ status: 200, body: { stored: 6, applied: 2, skipped: 4 } })
  await wa.settled('org-a', a, 'DELIVERED')
  await wa.settled('org-b', b, 'DELIVERED')
})

Deno.test('a callback as full as WhatsApp makes them is stored whole, and again not at all', async () => {
  const statuses = Array.from({ length: 1000 }, (_, n) => ({
    id: `wamid.FULL${n}`,
    status: 'sent',
    timestamp: '1790000000',
    conversation: { id: 'é'.repeat(1400) },
  }))
  const body = bodyOf('901', [changeOf('101', { statuses })])
  expect(new TextEncoder().encode(body).length).toBeGreaterThan(2.8e6)
  expect(await postCallback(wa.target('org-a'), body))
    .toMatchObject({ status: 200, body: { stored: 1000, duplicates: 0, kept: 1000 } })
  expect(await postCallback(wa.target('org-a'), body))
    .toMatchObject({ status: 200, body: { stored: 0, duplicates: 1000 } })
})

Deno.test('what cannot be stored is 503, and is stored when WhatsApp comes again', async () => {
  const { id, taken } = await sent()
  const name = 'function outbox.receive_callbacks(text, text, jsonb)'
  await wa.outhook.sql.unsafe(`revoke execute on ${name} from service_role`)
  try {
    expect((await wa.graph.report(taken, 'delivered')).status).toBe(503)
  } finally {
    await wa.outhook.sql.unsafe(`grant execute on ${name} to service_role`)
  }
  const [row] = await wa.outhook.sql`
    select count(*)::int as n from outbox.whatsapp_update u where u.wamid = ${taken.wamid}`
  expect(row?.n).toBe(0)
  expect(await wa.graph.report(taken, 'delivered'))
    .toMatchObject({ status: 200, body: { stored: 1, applied: 1 } })
  await wa.settled('org-a', id, 'DELIVERED')
})

Deno.test('what is stored while its message is locked is applied afterwards, by the tick', async () => {
  const { id, taken } = await sent()
  const { sql } = wa.outhook
  await sql.begin(async (held) => {
    await held`select from outbox.outbound_message m where m.id = ${id}::bigint for update`
    expect(await wa.graph.report(taken, 'read'))
      .toMatchObject({ status: 200, body: { stored: 1, applied: 0 } })
  })
  // The tick does it too; pg_cron 1.4 begins at a full minute, for which nobody waits here.
  const isSwept = async (): Promise<boolean> => {
    await sql`select outbox.apply_callbacks()`
    const [row] = await sql`
      select m.status from outbox.outbound_message m where m.id = ${id}::bigint`
    return row?.status === 'DELIVERED'
  }
  expect(await waitUntil(isSwept, { timeoutMs: patienceMs, everyMs: 100 })).toBe(true)
  expect(await wa.settled('org-a', id, 'DELIVERED')).toMatchObject({ readAt: expect.any(String) })
})

Deno.test('the GET of either address gives the challenge back for its own token', async () => {
  const base = `${wa.outhook.stack.apiUrl}/functions/v1`
  const secret = wa.outhook.stack.keys.verifySecret
  const fixed = '/api/v1/webhooks/whatsapp/inbound'
  const key = wa.target('org-a').url.split('/').at(-1) ?? ''
  const rows: [path: string, token: string, status: number][] = [
    [`/whatsapp/inbound/${key}`, verifyToken(secret, key), 200],
    [fixed, verifyToken(secret, fixed), 200],
    [`/whatsapp/inbound/${key}`, verifyToken(secret, fixed), 403],
    [fixed, 'guessed', 403],
  ]
  for (const [path, token, status] of rows) {
    const query = `hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`
    const response = await fetch(`${base}${path}?${query}`)
    const text = await response.text()
    expect([path, response.status]).toEqual([path, status])
    if (status === 200) expect(text).toBe('1158201444')
  }
})

Deno.test('no log holds a number, an id of WhatsApp, a key, a token or a secret', () => {
  const log = wa.outhook.log.join('\n')
  expect(log).toContain('"callback"')
  expect(log).not.toMatch(/120255\d{5}|wamid\.|token-10\d|secret-\d/)
  expect(log).not.toContain(wa.target('org-a').url.split('/').at(-1))
})
