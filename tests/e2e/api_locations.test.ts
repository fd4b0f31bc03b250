/** Each Location of the API, followed as a client follows it: through the gateway, with its prefix. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { openapiFile } from '../../supabase/local/openapi.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { startOuthook, type TestOuthook } from '../_support/outhook.ts'

let outhook: TestOuthook
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['api'] })
  call = apiCaller(outhook)
  await outhook.sql`select outbox.put_whatsapp_app('900000000000001', 'secret')`
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

const org = 'org-locations'
/** A request for each operation that creates an object with a path of its own, and the member with its id. */
const requests: Record<string, { path: string; list?: string; body: unknown; id: string }> = {
  createEndpoint: { path: '/endpoints', body: { url: 'https://example.com/hooks' }, id: 'id' },
  createReplayJob: { path: '/replay-jobs', body: { eventType: 'no.such' }, id: 'id' },
  createBackfill: {
    path: '/endpoints/{endpoint}/backfills',
    list: '/replay-jobs',
    body: {},
    id: 'id',
  },
  createEventType: { path: '/event-types', body: { type: 'order.paid-1_x' }, id: 'type' },
  createChannel: {
    path: '/channels',
    body: {
      phoneNumberId: '100000000000001',
      wabaId: '200000000000001',
      appId: '900000000000001',
      accessToken: 'token',
    },
    id: 'id',
  },
  createMessage: {
    path: '/outbound/messages',
    body: {
      channel: 'WHATSAPP',
      to: '+12025550111',
      templateCode: 'reminder',
      payloadJson: { parameters: ['Anna'] },
    },
    id: 'id',
  },
}

type Operation = { operationId: string; responses: Record<string, { headers?: object }> }

async function operations(): Promise<Operation[]> {
  const { paths } = JSON.parse(await Deno.readTextFile(join(projectRoot, openapiFile)))
  return Object.values<Record<string, Operation>>(paths).flatMap((path) => Object.values(path))
}

Deno.test('each Location leads to the created object, also behind the prefix of the gateway', async () => {
  await call('PUT /templates/reminder', {
    headers: { 'x-org-id': org },
    body: { name: 'reminder', language: 'en', category: 'UTILITY' },
  })
  const described = (await operations()).filter(({ responses }) =>
    Object.hasOwn(responses['201']?.headers ?? {}, 'Location')
  )
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(
    Object.keys(requests).sort(),
  )
  const base = `${outhook.stack.apiUrl}/functions/v1/api/v1`
  const subscribed = await call('POST /endpoints', {
    headers: { 'x-org-id': org },
    body: { url: 'https://example.com/hooks', eventTypes: ['order.*'] },
  })
  for (const [operationId, { path: template, list, body, id }] of Object.entries(requests)) {
    const path = template.replace('{endpoint}', String(subscribed.body.id))
    const made = await call(`POST ${path}`, { headers: { 'x-org-id': org }, body })
    expect([operationId, made.status]).toEqual([operationId, 201])
    const location = new URL(made.headers.get('location') ?? '', `${base}${path}`)
    expect(location.href).toBe(`${base}${list ?? path}/${made.body[id]}`)
    const found = await call(`GET ${location.href.slice(base.length)}`, {
      headers: { 'x-org-id': org },
    })
    expect([operationId, found.status, found.body[id]]).toEqual([operationId, 200, made.body[id]])
  }
})

Deno.test('what is created without a path of its own has no Location', async () => {
  const created = (await operations()).filter(({ responses }) => responses['201'] !== undefined)
  const without = created.filter(({ operationId }) => !Object.hasOwn(requests, operationId))
  expect(without.map(({ operationId }) => operationId).sort()).toEqual([
    'createPortalToken',
    'recordConsent',
  ])
  const token = await call('POST /portal-tokens', { headers: { 'x-org-id': org }, body: {} })
  expect([token.status, token.headers.get('location')]).toEqual([201, null])
})
