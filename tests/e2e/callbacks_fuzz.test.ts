/** Whatever one app signs: no error of ours, and nothing of an organisation that is not the app's. */

import { createHmac } from 'node:crypto'
import { expect } from '@std/expect'
import * as fc from 'fast-check'
import { callbackDatabase } from '../../functions/_shared/messages/callbacks/database.ts'
import { connectFunctions } from '../../functions/_shared/database/functions.ts'
import { createApp } from '../../functions/whatsapp/app.ts'
import { startApi, type TestApi } from '../_support/api_app.ts'
import { shapes } from '../functions/_shared/messages/callbacks/shapes.ts'

let api: TestApi
let app: ReturnType<typeof createApp>
const keys: Record<string, string> = {}

/** The victim's, which the attacker may name. */
const victim = { org: 'org-victim', app: '1', number: '101', waba: '901', wamid: 'wamid.VICTIM' }
const attacker = { org: 'org-attacker', app: '2', number: '102', waba: '902' }

Deno.test.beforeAll(async () => {
  api = await startApi()
  const { sql, stack } = api.outhook
  for (const { org, app: id, number, waba } of [victim, attacker]) {
    const [row] = await sql`select outbox.put_whatsapp_app(${id}, ${`secret-${id}`}) as app`
    keys[id] = row?.app.appKey
    await sql`
      select outbox.create_channel(${org}, ${number}, ${waba}, ${id}, 'token'),
        outbox.put_template(${org}, 'reminder', 'appointment_reminder', 'fr', 'UTILITY')`
    await sql`
      select outbox.create_message(${org}, '+12025550111', '{"parameters": ["a"]}', 'reminder')`
  }
  // A try of the victim's message that WhatsApp has taken.
  await sql`
    insert into outbox.message_attempt (message_id, attempt_no, status, created_at, updated_at,
      event_id, claim, phone_number_id, wamid)
    select m.id, 1, 'SUCCESS', now(), now(), m.event_id, 1, ${victim.number}, ${victim.wamid}
    from outbox.outbound_message m where m.org_id = ${victim.org}`
  app = createApp({
    database: callbackDatabase(
      connectFunctions({ url: stack.apiUrl, key: stack.keys.secretKey }),
    ),
    verifySecrets: [],
    bodyMs: 60_000,
    now: () => 0,
    log: (level, message, fields) => api.lines.push(JSON.stringify({ level, message, ...fields })),
  })
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

/** All that is the victim's. */
async function state(): Promise<unknown> {
  const [row] = await api.outhook.sql`
    select (select jsonb_agg(to_jsonb(m)) from outbox.outbound_message m where m.org_id = ${victim.org})
        as messages,
      (select jsonb_agg(to_jsonb(a)) from outbox.message_attempt a
        where a.phone_number_id = ${victim.number}) as attempts,
      (select jsonb_agg(to_jsonb(e)) from outbox.endpoint e where e.org_id = ${victim.org}) as endpoints,
      (select jsonb_agg(to_jsonb(c)) from outbox.whatsapp_channel c where c.org_id = ${victim.org})
        as channels,
      (select jsonb_agg(to_jsonb(t)) from outbox.template t where t.org_id = ${victim.org})
        as templates,
      (select jsonb_agg(to_jsonb(c)) from outbox.consent c where c.org_id = ${victim.org}) as consents,
      (select jsonb_agg(to_jsonb(a)) from outbox.audit_event a where a.org_id = ${victim.org})
        as audit,
      (select count(*) from outbox.event e where e.org_id = ${victim.org}) as events,
      (select count(*) from outbox.whatsapp_update u where u.org_id = ${victim.org}) as updates,
      (select count(*) from outbox.conversation_window w join outbox.whatsapp_channel c
        on c.endpoint_id = w.channel_id where c.org_id = ${victim.org}) as windows`
  return row
}

async function post(path: string, text: string, org?: string): Promise<Response> {
  const digest = createHmac('sha256', `secret-${attacker.app}`).update(text).digest('hex')
  const request = new Request(`http://x.test${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${digest}`,
      ...org === undefined ? {} : { 'x-org-id': org },
    },
    body: text,
  })
  return path.startsWith('/api') ? await api.app.request(request) : await app.request(request)
}

const number = fc.constantFrom(attacker.number, victim.number, '999', '')
const waba = fc.constantFrom(attacker.waba, victim.waba, '999', '')
const text = fc.oneof(
  fc.constantFrom(victim.wamid, 'wamid.X', '12025550111', 'STOP', 'stop', 'PAUSED', 'DISABLED'),
  fc.constantFrom('ob1:1:1', 'ob1:2:1', 'ob1:99999999999999999999:1', 'ob1:-1:1', 'a\0b', '\ud800'),
  fc.string({ unit: 'binary' }),
)
const odd: fc.Arbitrary<unknown> = fc.oneof(
  text,
  fc.constantFrom(null, true, -1, 1e400, 2 ** 53, 1790000000, '1790000000', [], {}),
  fc.jsonValue({ maxDepth: 2 }),
)
const word = (...words: string[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: odd })

const error = fc.record({
  code: fc.oneof(fc.constantFrom(131026, 131042, 131050, 131031, '190'), odd),
  title: odd,
  error_data: odd,
}, { requiredKeys: [] })
const status = fc.record({
  id: word(victim.wamid, 'wamid.X', 'wamid.Y'),
  status: word('sent', 'delivered', 'read', 'failed'),
  timestamp: word('1790000000', '1790000001'),
  recipient_id: odd,
  recipient_user_id: odd,
  biz_opaque_callback_data: word('ob1:1:1', 'ob1:2:1'),
  errors: fc.oneof(fc.array(error, { maxLength: 2 }), odd),
}, { requiredKeys: [] })
const message = fc.record({
  id: word('wamid.IN1', 'wamid.IN2', victim.wamid),
  from: word('12025550111', '12025550112'),
  from_user_id: odd,
  timestamp: word('1790000000'),
  type: word('text', 'button', 'unsupported', 'system', 'interactive'),
  text: fc.oneof(fc.record({ body: word('STOP', 'START', 'arret') }), odd),
  button: fc.oneof(fc.record({ payload: word('STOP'), text: odd }), odd),
  context: odd,
}, { requiredKeys: [] })
const preference = fc.record({
  wa_id: word('12025550111'),
  category: word('marketing_messages'),
  value: word('stop', 'resume'),
  timestamp: word('1790000000'),
}, { requiredKeys: [] })
const list = (element: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({
    weight: 5,
    arbitrary: fc.array(fc.oneof({ weight: 6, arbitrary: element }, odd), { maxLength: 4 }),
  }, odd)
const value = fc.record({
  metadata: fc.oneof(
    { weight: 6, arbitrary: fc.record({ phone_number_id: number, display_phone_number: odd }) },
    odd,
  ),
  statuses: list(status),
  messages: list(message),
  user_preferences: list(preference),
  contacts: list(fc.record({ wa_id: odd, user_id: odd, profile: odd }, { requiredKeys: [] })),
  errors: list(error),
  event: word('PAUSED', 'APPROVED', 'DISABLED', 'ACCOUNT_RESTRICTION', 'FLAGGED'),
  message_template_name: word('appointment_reminder'),
  message_template_language: word('fr', 'en-US'),
  restriction_info: odd,
  display_phone_number: odd,
}, { requiredKeys: [] })
const change = fc.record({
  field: word(
    'messages',
    'user_preferences',
    'message_template_status_update',
    'account_update',
    'phone_number_quality_update',
    'calls',
  ),
  value: fc.oneof({ weight: 8, arbitrary: value }, odd),
}, { requiredKeys: ['value'] })
const entry = fc.record({ id: waba, time: word('1790000000'), changes: list(change) }, {
  requiredKeys: ['changes'],
})
const body = fc.record({
  object: fc.constantFrom('whatsapp_business_account', 'page'),
  entry: list(entry),
}, { requiredKeys: ['entry'] })

Deno.test('a signed body of any structure is stored or refused, and moves nobody else', async () => {
  await api.outhook.sql`
    select outbox.set_setting('whatsapp.shared_app', to_jsonb(${attacker.app}::text))`
  const before = await state()
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: body }, odd),
      fc.constantFrom(
        `/whatsapp/inbound/${keys[attacker.app]}`,
        '/api/v1/webhooks/whatsapp/inbound',
      ),
      fc.constantFrom(undefined, attacker.org, victim.org, 'x'.repeat(300)),
      async (json, path, org) => {
        const response = await post(path, JSON.stringify(json) ?? '', org)
        const answer = await response.text()
        statuses.add(response.status)
        if (![200, 400, 401, 413].includes(response.status)) {
          throw new Error(`${response.status} ${answer}\n${api.lines.slice(-3).join('\n')}`)
        }
      },
    ),
    { numRuns: 300 },
  )
  expect(await state()).toEqual(before)
  expect(statuses.has(200)).toBe(true)
  // Nothing was left for the sweep to fail on either.
  const [left] = await api.outhook.sql`
    select count(*)::int as n from outbox.whatsapp_update u where u.reason like 'error%'`
  expect(left?.n).toBe(0)
})

Deno.test('a body that was cut, doubled or bent is answered as well', async () => {
  const before = await state()
  const genuine = shapes.map(({ body }) => typeof body === 'string' ? body : JSON.stringify(body))
  const bent = fc.tuple(
    fc.constantFrom(...genuine),
    fc.nat(),
    fc.nat(),
    fc.string({ unit: 'binary' }),
  )
    .map(([sent, at, length, put]) => {
      const start = at % sent.length
      return sent.slice(0, start) + put.toWellFormed() + sent.slice(start + length % 8)
    })
  await fc.assert(
    fc.asyncProperty(bent, async (sent) => {
      const response = await post(`/whatsapp/inbound/${keys[attacker.app]}`, sent)
      await response.body?.cancel()
      if (![200, 400].includes(response.status)) throw new Error(String(response.status))
    }),
    { numRuns: 150 },
  )
  expect(await state()).toEqual(before)
})
