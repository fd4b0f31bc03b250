/** What people write to a number, what they want, and what WhatsApp says of accounts and templates. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/outhook.ts'
import { type Org, startWhatsapp, tenants, type TestWhatsapp } from '../_support/whatsapp.ts'
import {
  bodyOf,
  type CallbackResult,
  postCallback,
  statusOf,
} from '../../supabase/local/whatsapp/callbacks.ts'

let wa: TestWhatsapp
const hook = '/hooks/whatsapp'

Deno.test.beforeAll(async () => {
  wa = await startWhatsapp()
  await wa.outhook.createEndpoint(hook, { p_org_id: 'org-a', p_event_types: ['whatsapp.*'] })
})
Deno.test.afterAll(async () => {
  await wa?.stop()
})

let messages = 0

/** A message of a person as it comes in. */
function messageOf(from: string, over: Record<string, unknown>): Record<string, unknown> {
  const at = { timestamp: String(Math.floor(Date.now() / 1000)) }
  return { id: `wamid.IN${messages++}`, from: from.slice(1), ...at, ...over }
}

async function write(org: Org, from: string, over: Record<string, unknown>): Promise<string> {
  const message = messageOf(from, over)
  const contacts = [{ profile: { name: 'Zoé' }, wa_id: from.slice(1) }]
  expect(await wa.callBack(org, { contacts, messages: [message] }))
    .toMatchObject({ status: 200, body: { stored: 1, applied: 1 } })
  return String(message['id'])
}

async function say(org: Org, from: string, body: string): Promise<string> {
  return await write(org, from, { type: 'text', text: { body } })
}

/** What becomes of a message to a person: its status, or the code of the refusal. */
async function ask(org: Org, to: string, over: Record<string, unknown> = {}): Promise<string> {
  const body = { channel: 'WHATSAPP', to, templateCode: 'reminder' }
  const answer = await wa.call(org, 'POST /outbound/messages', {
    ...body,
    payloadJson: { parameters: ['Anna'] },
    ...over,
  })
  return answer.status === 201 ? answer.body.status : answer.body.code
}

/** The webhooks of a type that the organisation's own endpoint got, once one of them fits. */
async function hooked(type: string, fits: (data: Record<string, unknown>) => boolean): Promise<
  Record<string, unknown>[]
> {
  const decoder = new TextDecoder()
  const found = (): Record<string, unknown>[] =>
    wa.outhook.receiver.received.filter(({ path }) => path === hook)
      .map(({ body }) => JSON.parse(decoder.decode(body)))
      .filter((event) => event.eventType === type && fits(event.data))
      .map(({ data }) => data)
  await waitUntil(() => found().length > 0, { timeoutMs: patienceMs, everyMs: 20 })
  return found()
}

/** Calls back about the account of an organisation. */
async function notice(
  org: Org,
  field: string,
  value: Record<string, unknown>,
): Promise<CallbackResult> {
  const time = Math.floor(Date.now() / 1000)
  return await postCallback(wa.target(org), bodyOf(tenants[org].waba, [{ field, value }], time))
}

const text = { templateCode: undefined, payloadJson: { type: 'text', text: 'Hello' } }

Deno.test('who writes opens the window, and the message comes as a webhook, once', async () => {
  const person = wa.somebody()
  expect(await ask('org-a', person, text)).toBe('outside_window')
  const message = messageOf(person, { type: 'text', text: { body: 'Hi, “Zoé” 😀' } })
  const answers = await Promise.all(
    [1, 2, 3].map(() => wa.callBack('org-a', { messages: [message] })),
  )
  expect(answers.map(({ body }) => body['stored']).sort()).toEqual([0, 0, 1])
  expect(await ask('org-a', person, text)).toBe('QUEUED')
  expect(await ask('org-b', person, text)).toBe('outside_window')
  const came = await hooked('whatsapp.message.received', ({ from }) => from === person)
  expect(came).toMatchObject([{
    type: 'text',
    text: 'Hi, “Zoé” 😀',
    channelId: wa.channels['org-a'],
    meaning: null,
  }])
})

Deno.test('statuses come as webhooks too, without a number', async () => {
  const to = wa.somebody()
  const id = await wa.create('org-a', to)
  await wa.settled('org-a', id, 'SENT')
  const [taken] = await wa.takenFor(to)
  if (taken === undefined) throw new Error('nothing was taken')
  await wa.graph.report(taken, 'delivered')
  const came = await hooked('whatsapp.message.status', ({ messageId }) => messageId === id)
  expect(came).toMatchObject([{ status: 'delivered', messageStatus: 'DELIVERED', attempt: 1 }])
  expect(JSON.stringify(came)).not.toMatch(/120255|wamid/)
})

Deno.test('STOP ends what a person gets, START begins it again, a sentence with it does neither', async () => {
  const person = wa.somebody()
  await say('org-a', person, 'Please do not stop writing')
  expect(await ask('org-a', person)).toBe('QUEUED')
  await say('org-a', person, ' Arrêt ! ')
  expect(await ask('org-a', person)).toBe('opted_out')
  expect(await ask('org-b', person)).toBe('QUEUED')
  // The seconds of WhatsApp's clock do not tell the two apart: of one moment, less is asked for.
  const later = { timestamp: String(Math.floor(Date.now() / 1000) + 2) }
  await write('org-a', person, { type: 'text', text: { body: 'START' }, ...later })
  expect(await ask('org-a', person)).toBe('QUEUED')
  const [row] = await wa.outhook.sql`
    select array_agg(a.action order by a.id) as actions from outbox.audit_event a
    where a.org_id = 'org-a' and a.entity_type = 'PERSON' and a.details like '%ALL%'`
  expect(row?.actions).toEqual(['OPTED_OUT', 'OPTED_IN'])
})

Deno.test('a quick reply that means STOP is an opt-out with its evidence', async () => {
  const person = wa.somebody()
  await write('org-a', person, {
    type: 'button',
    button: { payload: 'STOP', text: 'Plus de messages' },
    context: { id: 'wamid.UNKNOWN' },
  })
  expect(await ask('org-a', person)).toBe('opted_out')
  const [row] = await wa.outhook.sql`
    select o.words, o.source from outbox.opt_out o
    where o.person_id = outbox.find_person('org-a', ${person})`
  expect(row).toEqual({ source: 'inbound STOP', words: 'Plus de messages' })
})

Deno.test("WhatsApp's own button stops marketing alone, by the time at which it was pressed", async () => {
  const person = wa.somebody()
  const template = { name: 'spring_sale', language: 'fr', category: 'MARKETING' }
  expect((await wa.call('org-a', 'PUT /templates/sale', template)).status).toBe(200)
  const now = Math.floor(Date.now() / 1000)
  const press = async (value: string, timestamp: number): Promise<void> => {
    const { number, waba } = tenants['org-a']
    const wish = { wa_id: person.slice(1), category: 'marketing_messages', value, timestamp }
    const change = {
      field: 'user_preferences',
      value: { metadata: { phone_number_id: number }, user_preferences: [wish] },
    }
    expect((await postCallback(wa.target('org-a'), bodyOf(waba, [change]))).status).toBe(200)
  }
  await press('stop', now)
  expect(await ask('org-a', person, { templateCode: 'sale' })).toBe('opted_out')
  expect(await ask('org-a', person)).toBe('QUEUED')
  await press('resume', now - 60)
  expect(await ask('org-a', person, { templateCode: 'sale' })).toBe('opted_out')
  await press('resume', now + 60)
  expect(await ask('org-a', person, { templateCode: 'sale' })).toBe('QUEUED')
})

Deno.test('a message that could not be shown is replaced by itself, of a person without a number', async () => {
  const contacts = [{ user_id: 'US.1000000001', profile: { name: 'T', username: 't' } }]
  const base = { id: 'wamid.GHOST', from_user_id: 'US.1000000001', timestamp: '1790000000' }
  const bodies = [
    { type: 'unsupported', errors: [{ code: 131060, title: 'This message is unavailable.' }] },
    { type: 'text', text: { body: 'here I am' } },
    { type: 'unsupported', errors: [{ code: 131060, title: 'This message is unavailable.' }] },
  ]
  for (const over of bodies) {
    const { status } = await wa.callBack('org-a', { contacts, messages: [{ ...base, ...over }] })
    expect(status).toBe(200)
  }
  const rows = await wa.outhook.sql`
    select m.type, m.text, outbox.recipients_json(m.person_id) as recipients
    from outbox.inbound_message m where m.wamid = 'wamid.GHOST'`
  expect([...rows]).toEqual([
    { type: 'text', text: 'here I am', recipients: ['US.1000000001'] },
  ])
})

Deno.test('a template that WhatsApp pauses keeps its messages back until it is approved again', async () => {
  const value = {
    message_template_id: 4000000000000001,
    message_template_name: 'appointment_reminder',
    message_template_language: 'fr',
    reason: 'NONE',
  }
  const field = 'message_template_status_update'
  expect(await notice('org-c', field, { ...value, event: 'PAUSED' }))
    .toMatchObject({ status: 200, body: { applied: 1 } })
  const [held, free] = [wa.somebody(), wa.somebody()]
  const id = await wa.create('org-c', held)
  await wa.settled('org-a', await wa.create('org-a', free), 'SENT')
  const other = { name: 'other', language: 'fr', category: 'UTILITY' }
  await wa.call('org-c', 'PUT /templates/other', other)
  const person = wa.somebody()
  const second = await wa.create('org-c', person, { templateCode: 'other' })
  await wa.settled('org-c', second, 'SENT')
  expect((await wa.call('org-c', `GET /outbound/messages/${id}`)).body)
    .toMatchObject({ status: 'QUEUED', attemptCount: 0 })
  expect(wa.graph.taken.filter(({ body }) => body.to === held)).toEqual([])
  // Another second, or of the two words the one that holds would count.
  const later = Math.floor(Date.now() / 1000) + 2
  const approved = { field, value: { ...value, event: 'APPROVED' } }
  await postCallback(wa.target('org-c'), bodyOf(tenants['org-c'].waba, [approved], later))
  await wa.settled('org-c', await wa.create('org-c', wa.somebody()), 'SENT')
})

Deno.test('a restricted account holds its channels and no other, until it is restricted no more', async () => {
  const statusIn = async (org: Org): Promise<string> =>
    (await wa.call(org, `GET /channels/${wa.channels[org]}`)).body.status
  const restriction = { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING' }
  const event = { event: 'ACCOUNT_RESTRICTION', restriction_info: [restriction] }
  // Of the account of org-c, signed by the app of the others: not theirs to say.
  const forged = bodyOf(tenants['org-c'].waba, [{ field: 'account_update', value: event }])
  expect(await postCallback(wa.target('org-a'), forged))
    .toMatchObject({ status: 200, body: { skipped: 1 } })
  expect(await statusIn('org-c')).toBe('enabled')
  await notice('org-c', 'account_update', event)
  expect([await statusIn('org-c'), await statusIn('org-a')]).toEqual(['paused', 'enabled'])
  const later = Math.floor(Date.now() / 1000) + 2
  const change = { field: 'account_update', value: { ...event, restriction_info: [] } }
  // The address without a key is that of one app.
  await wa.outhook.sql`
    select outbox.set_setting('whatsapp.shared_app', to_jsonb(${tenants['org-c'].app}::text))`
  const url = `${wa.outhook.stack.apiUrl}/functions/v1/api/v1/webhooks/whatsapp/inbound`
  const lifted = bodyOf(tenants['org-c'].waba, [change], later)
  expect(await postCallback({ ...wa.target('org-a'), url }, lifted)).toMatchObject({ status: 401 })
  expect(await postCallback({ ...wa.target('org-c'), url }, lifted))
    .toMatchObject({ status: 200, body: { applied: 1 } })
  expect(await statusIn('org-c')).toBe('enabled')
})

Deno.test('a failure told afterwards does what its rule says of the person and the channel', async () => {
  const fail = async (org: Org, code: number): Promise<string> => {
    const to = wa.somebody()
    const id = await wa.create(org, to)
    await wa.settled(org, id, 'SENT')
    const [taken] = await wa.takenFor(to)
    if (taken === undefined) throw new Error('nothing was taken')
    const errors = [{ code, title: 'As WhatsApp calls it' }]
    await wa.callBack(org, { statuses: [statusOf(taken, 'failed', { errors })] })
    expect(await wa.settled(org, id, 'FAILED')).toMatchObject({
      errorCode: String(code),
      attemptCount: 1,
    })
    return to
  }
  const person = await fail('org-a', 131050)
  expect(await ask('org-a', person, { templateCode: 'sale' })).toBe('opted_out')
  expect(await ask('org-a', person)).toBe('QUEUED')
  await fail('org-b', 131042)
  expect((await wa.call('org-b', `GET /channels/${wa.channels['org-b']}`)).body)
    .toMatchObject({ status: 'paused', statusReason: expect.stringContaining('131042') })
})
