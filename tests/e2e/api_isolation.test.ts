/** Every route of the API, called for another organisation's object and with too low a role. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { describeApi } from '../../functions/api/openapi.ts'
import { startApi, type TestApi } from '../_support/api_app.ts'

type Operation = { operationId: string; 'x-required-role'?: string; security?: unknown[] }
type Route = { method: string; path: string; operation: Operation }

/** A body that a route takes, by its operation. What takes none is not here. */
const bodies: Record<string, unknown> = {
  createEndpoint: { url: 'https://example.com/hook' },
  updateEndpoint: { description: 'theirs' },
  pauseEndpoint: {},
  setRetryConfig: { strategy: 'fixed', baseDelay: 5, maxRetries: 3 },
  previewRetryConfig: { strategy: 'fixed', baseDelay: 5, maxRetries: 3 },
  rotateEndpointSecret: {},
  createPortalToken: {},
  discardDeadLetter: { reason: 'theirs' },
  createReplayJob: {},
  publishEvent: { type: 'a.b', payload: {} },
  publishEvents: { events: [{ type: 'a.b', payload: {} }] },
  putEventType: { description: 'theirs' },
  setCatalogue: { strict: false },
  cancelDelivery: {},
  createMessage: {
    channel: 'WHATSAPP',
    to: '+12025550111',
    payloadJson: { type: 'text', text: 'theirs' },
  },
  recordConsent: { channel: 'WHATSAPP', purposes: ['UTILITY'], granted: true, source: 'theirs' },
  putTemplate: { name: 'theirs', language: 'fr', category: 'UTILITY' },
  createChannel: { phoneNumberId: '1', wabaId: '1', appId: '1', accessToken: 'theirs' },
  setChannelToken: { accessToken: 'theirs' },
  updateChannel: { accessToken: 'theirs' },
  putOptOut: { source: 'theirs' },
  putWhatsappApp: { secret: 'theirs' },
  executeSaga: {},
}
/** What has a name, which each org may use: theirs is not the victim's. */
const named: Record<string, number> = {
  putEventType: 200,
  putTemplate: 200,
  listConsents: 200,
  recordConsent: 201,
  listActivity: 200,
  putOptOut: 200,
  deleteOptOut: 200,
  // Several organisations may share an app: no token reads or changes one.
  getWhatsappApp: 403,
  putWhatsappApp: 403,
}
/** What anybody may call: WhatsApp signs, or names a token. */
const open = ['verifyWhatsappCallback', 'receiveWhatsappCallback']
const lower: Record<string, string> = { operator: 'viewer', admin: 'operator' }
const victim = 'org-victim'

let api: TestApi
let ids: Record<string, string>

Deno.test.beforeAll(async () => {
  api = await startApi()
  const { sql, receiver } = api.outhook
  const [row] = await sql`
    select outbox.create_endpoint(${
    receiver.url + '/hooks/x'
  }, '{a.b}', ${victim}) ->> 'id' as endpoint`
  const endpoint: string = row?.endpoint
  const [{ secret } = { secret: '' }] = await sql`
    select id as secret from outbox.endpoint_secret where endpoint_id = ${endpoint}`
  const [{ event } = { event: '' }] = await sql`
    select outbox.publish('a.b', '{"s": "victims-secret"}', ${victim}) as event`
  await sql`select outbox.put_event_type(${victim}, 'victims.type', 'victims-secret')`
  await sql`select outbox.dispatch(gen_random_uuid(), 1, '[]', 0)`
  const [{ letter } = { letter: '' }] = await sql`
    insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic,
      original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why)
    values (gen_random_uuid(), gen_random_uuid(), ${endpoint}, ${victim}, 'a.b',
      '{"s": "victims-secret"}', 'x', 6, now(), 'c', 6, now(), 'out_of_retries')
    returning id as letter`
  const [{ job } = { job: '' }] = await sql`
    select outbox.create_replay_job(${victim}, '{"eventType": "no.such"}') ->> 'id' as job`
  ids = {
    endpointId: endpoint,
    secretId: secret,
    eventId: event,
    deliveryId: `${event}.${endpoint}`,
    deadLetterId: letter,
    replayJobId: job,
    eventType: 'victims.type',
    type: 'victims.type',
    testId: event,
    name: 'no_such_saga',
    ...await makeMessage(sql, victim),
  }
})
Deno.test.afterAll(async () => {
  await api?.outhook.stop()
})

/** A channel of the org with a template, a dossier that has consented, and a message that waits. */
async function makeMessage(sql: Sql, orgId: string): Promise<Record<string, string>> {
  await sql`select outbox.put_whatsapp_app('7', 'victims-secret')`
  const [{ channel } = { channel: '' }] = await sql`
    select outbox.create_channel(${orgId}, '100', '200', '7', 'victims-secret') ->> 'id' as channel`
  await sql`select outbox.pause_endpoint(${channel})`
  await sql`select outbox.put_template(${orgId}, 'victims.template', 'hello', 'fr', 'UTILITY')`
  await sql`select outbox.grant_consent(${orgId}, 'victims.dossier', '{UTILITY}', 'victims-secret')`
  await sql`select outbox.opt_out_recipient(${orgId}, '+12025550111', 'victims-secret', 'MARKETING')`
  const [{ message } = { message: '' }] = await sql`
    select outbox.create_message(${orgId}, '+12025550111', '{"parameters": ["victims-secret"]}',
      'victims.template', 'victims.dossier') #>> '{message,id}' as message`
  return {
    channelId: channel,
    templateCode: 'victims.template',
    dossierId: 'victims.dossier',
    messageId: message,
    recipient: '+12025550111',
    appId: '7',
  }
}

function routes(): Route[] {
  return allRoutes().filter(({ operation }) => !open.includes(operation.operationId))
}

function allRoutes(): Route[] {
  return Object.entries(describeApi(api.app).paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      // SAFETY: every member of a path is an operation here.
      operation: operation as Operation,
    }))
  )
}

function fill(path: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name]
    if (id === undefined) throw new Error(`the test has no object for {${name}}`)
    return id
  })
}

async function send(
  { method, path, operation }: Route,
  orgId: string,
  role: string,
): Promise<{ status: number; text: string }> {
  const body = bodies[operation.operationId]
  const response = await api.app.request(fill(path), {
    method,
    headers: {
      authorization: `Bearer ${await api.token(orgId, role)}`,
      'content-type': 'application/json',
    },
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  })
  return { status: response.status, text: await response.text() }
}

Deno.test("every route answers 404 to another organisation's id, and tells nothing of it", async () => {
  const { sql } = api.outhook
  // What is the victim's, as one text: no call may change it.
  const state = async (): Promise<string> =>
    JSON.stringify(
      await sql`select (select jsonb_agg(to_jsonb(e) order by e.id) from outbox.endpoint e where org_id = ${victim}) as endpoints,
        (select jsonb_agg(to_jsonb(x)) from outbox.dead_letter x where org_id = ${victim}) as letters,
        (select jsonb_agg(to_jsonb(s)) from outbox.endpoint_secret s where endpoint_id = ${
        ids.endpointId ?? ''
      }) as secrets,
        (select jsonb_agg(to_jsonb(d)) from outbox.delivery d) as deliveries,
        (select jsonb_agg(to_jsonb(t)) from outbox.event_type t where org_id = ${victim}) as types,
        (select jsonb_agg(to_jsonb(m)) from outbox.outbound_message m where org_id = ${victim}) as messages,
        (select jsonb_agg(to_jsonb(c)) from outbox.consent c where org_id = ${victim}) as consents,
        (select jsonb_agg(to_jsonb(t)) from outbox.template t where org_id = ${victim}) as templates,
        (select jsonb_agg(to_jsonb(o)) from outbox.opt_out o where org_id = ${victim}) as opt_outs,
        (select jsonb_agg(to_jsonb(a)) from outbox.whatsapp_app a) as apps,
        (select jsonb_agg(to_jsonb(w)) from outbox.whatsapp_channel w where org_id = ${victim}) as channels,
        (select state in ('running', 'done') from outbox.replay_job where org_id = ${victim}) as job`,
    )
  const before = await state()
  const wrong: string[] = []
  // Who puts a name makes an own one, so that comes last.
  const puts = ({ operation }: Route): number => Number(operation.operationId in named)
  const walked = routes().filter(({ path }) => path.includes('{')).sort((a, b) => puts(a) - puts(b))
  for (const route of walked) {
    const { status, text } = await send(route, 'org-thief', 'admin')
    const expected = named[route.operation.operationId] ?? 404
    if (status !== expected || /victims-secret|whsec_/.test(text)) {
      wrong.push(`${route.method} ${route.path}: ${status} ${text.slice(0, 200)}`)
    }
  }
  expect(wrong).toEqual([])
  expect(await state()).toBe(before)
  expect(walked.length).toBeGreaterThan(15)
})

Deno.test('the routes that anybody may call are those of callbacks', () => {
  const found = allRoutes().filter(({ operation }) => operation.security?.length === 0)
  expect(found.map(({ operation }) => operation.operationId).sort()).toEqual(open.toSorted())
})

Deno.test('every list is empty for an organisation that has nothing', async () => {
  const wrong: string[] = []
  for (const route of routes()) {
    if (route.method !== 'GET' || route.path.includes('{')) continue
    const { status, text } = await send(route, 'org-nobody', 'viewer')
    if (
      status !== 200 || text.includes(victim) ||
      Object.values(ids).some((id) => text.includes(`"${id}"`))
    ) {
      wrong.push(`${route.path}: ${status} ${text.slice(0, 200)}`)
    }
  }
  expect(wrong).toEqual([])
})

Deno.test('every route refuses a role below its own, and says which it needs', async () => {
  const wrong: string[] = []
  let walked = 0
  for (const route of routes()) {
    const needed = route.operation['x-required-role'] ?? ''
    const role = lower[needed]
    if (role === undefined) {
      if (needed !== 'viewer') wrong.push(`${route.method} ${route.path} names no role`)
      continue
    }
    walked++
    const { status, text } = await send(route, victim, role)
    if (status !== 403 || !text.includes(`This needs the role ${needed}`)) {
      wrong.push(`${route.method} ${route.path}: ${status} ${text.slice(0, 200)}`)
    }
  }
  expect(wrong).toEqual([])
  expect(walked).toBeGreaterThan(10)
})

Deno.test('every route refuses a request without credentials', async () => {
  for (const { method, path } of routes()) {
    const response = await api.app.request(fill(path), { method })
    expect([path, response.status, (await response.json()).code]).toEqual([
      path,
      401,
      'unauthenticated',
    ])
  }
})
