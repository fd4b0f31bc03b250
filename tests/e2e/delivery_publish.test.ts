/** Every way to publish, and the kick that follows the commit. */

import { expect } from '@std/expect'
import { createClient } from '@supabase/supabase-js'
import { createHmac } from 'node:crypto'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'

let outhook: TestOuthook

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver'] })
  await outhook.sql.file(new URL('fixtures/shop.sql', import.meta.url).pathname)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

/** The data of the only request that an event caused. */
async function dataOf(eventId: string): Promise<unknown> {
  const requests = await outhook.requestsOf(eventId, 1)
  expect(requests).toHaveLength(1)
  return JSON.parse(new TextDecoder().decode(requests[0]?.body)).data
}

/**
 * Leaves a run awake for five seconds. A transaction that kicks and then stays open or rolls back has used up
 * the kick of the next 500 ms, which the tick makes good, but with pg_cron 1.4 not within a stack's first minute.
 */
async function wake(): Promise<void> {
  await outhook.createEndpoint('/hooks/wake', { p_event_types: ['test.wake'] })
  const [row] = await outhook.sql`select outbox.publish('test.wake', '{}') as id`
  await outhook.requestsOf(row?.id, 1)
}

/** Tables in which a trace of an event could be. */
async function traces(eventId: string): Promise<string[]> {
  const rows = await outhook.sql<{ place: string }[]>`
    select 'event' as place from outbox.event where id = ${eventId}
    union all select 'unrouted' from outbox.unrouted where event_id = ${eventId}
    union all select 'delivery' from outbox.delivery where event_id = ${eventId}
    union all select 'attempt' from outbox.attempt where event_id = ${eventId}`
  return rows.map(({ place }) => place)
}

Deno.test('publish() in a transaction arrives once it commits, and not before', async () => {
  await wake()
  await outhook.createEndpoint('/hooks/commit', { p_event_types: ['tx.commit'] })
  await outhook.createEndpoint('/hooks/earlier', { p_event_types: ['tx.earlier'] })
  const id = await outhook.sql.begin(async (tx): Promise<string> => {
    await tx`insert into public.shop_order (owner, total) values (gen_random_uuid(), 1)`
    const [row] = await tx`select outbox.publish('tx.commit', '{"id": 1}') as id`
    // A later event of another session overtakes it: a run looks, and does not see the first.
    const [other] = await outhook.sql`select outbox.publish('tx.earlier', '{}') as id`
    await outhook.requestsOf(other?.id, 1)
    expect(outhook.receiver.received.map(({ path }) => path)).not.toContain('/hooks/commit')
    return row?.id
  })
  expect(await dataOf(id)).toEqual({ id: 1 })
  expect(await outhook.attemptsOf(id)).toHaveLength(1)
})

Deno.test('publish() in a transaction that rolls back leaves nothing', async () => {
  await wake()
  await outhook.createEndpoint('/hooks/rollback', { p_event_types: ['tx.rollback'] })
  let rolledBack = ''
  const attempt = outhook.sql.begin(async (tx) => {
    const [row] = await tx`select outbox.publish('tx.rollback', '{"id": 1}') as id`
    rolledBack = row?.id
    throw new Error('the application changed its mind')
  })
  await expect(attempt).rejects.toThrow('changed its mind')
  const [committed] = await outhook.sql`select outbox.publish('tx.rollback', '{"id": 2}') as id`
  expect(await dataOf(committed?.id)).toEqual({ id: 2 })
  await outhook.attemptsOf(committed?.id)
  const ids = outhook.receiver.received
    .filter(({ path }) => path === '/hooks/rollback')
    .map(({ headers }) => headers['webhook-id'])
  expect(ids).toEqual([committed?.id])
  expect(await traces(rolledBack)).toEqual([])
  expect(await traces(committed?.id)).toEqual(['event', 'attempt'])
})

Deno.test('publish() in a savepoint that rolls back leaves nothing, and the rest arrives', async () => {
  await wake()
  await outhook.createEndpoint('/hooks/savepoint', { p_event_types: ['tx.savepoint'] })
  let lost = ''
  const id = await outhook.sql.begin(async (tx): Promise<string> => {
    await tx.savepoint(async (inner) => {
      const [row] = await inner`select outbox.publish('tx.savepoint', '{"id": 1}') as id`
      lost = row?.id
      await inner`select 1 / 0`
    }).catch(() => {})
    const [row] = await tx`select outbox.publish('tx.savepoint', '{"id": 2}') as id`
    return row?.id
  })
  expect(await dataOf(id)).toEqual({ id: 2 })
  expect(await traces(lost)).toEqual([])
})

Deno.test('publish() and publish_many() by RPC with the secret key arrive', async () => {
  await outhook.createEndpoint('/hooks/rpc', { p_event_types: ['rpc.*'] })
  const one = await outhook.client.rpc('publish', { p_type: 'rpc.one', p_payload: { id: 1 } })
  expect(one.error).toBeNull()
  expect(await dataOf(String(one.data))).toEqual({ id: 1 })

  const p_events = [{ type: 'rpc.a', payload: { id: 2 } }, { type: 'rpc.b', body: '[ 3 ]' }]
  const many = await outhook.client.rpc('publish_many', { p_events })
  expect(many.error).toBeNull()
  // SAFETY: publish_many() returns the array of ids.
  const [second, third] = many.data as [string, string]
  expect(await dataOf(second)).toEqual({ id: 2 })
  expect(await dataOf(third)).toEqual([3])
})

Deno.test('insert into webhook_outbox publishes', async () => {
  await outhook.createEndpoint('/hooks/insert', { p_event_types: ['insert.made'] })
  const [row] = await outhook.sql`
    insert into outbox.webhook_outbox (event_type, payload) values ('insert.made', '{"id": 1}')
    returning id, status`
  expect(row?.status).toBe('PENDING')
  expect(await dataOf(row?.id)).toEqual({ id: 1 })
  await outhook.attemptsOf(row?.id)
  const [after] = await outhook.sql`select status from outbox.webhook_outbox where id = ${row?.id}`
  expect(after?.status).toBe('DELIVERED')
})

Deno.test("a trigger publishes for an authenticated user's own insert", async () => {
  await outhook.createEndpoint('/hooks/shop', { p_event_types: ['shop.ordered'] })
  const { apiUrl, keys } = outhook.stack
  const sub = crypto.randomUUID()
  const token = await keys.signUserJwt({ sub })
  const user = createClient(apiUrl, keys.publishableKey, {
    accessToken: () => Promise.resolve(token),
  })
  const placed = await user.rpc('place_order', { p_total: 49.9 })
  expect(placed.error).toBeNull()
  const { received } = outhook.receiver
  const come = (): string | undefined =>
    received.find(({ path }) => path === '/hooks/shop')?.headers['webhook-id']
  expect(await waitUntil(() => come() !== undefined, { timeoutMs: patienceMs })).toBe(true)
  expect(await dataOf(come() ?? '')).toEqual({ id: placed.data, owner: sub, total: 49.9 })

  // The trigger's function is the user's only door.
  const direct = await user.schema('outbox').rpc('publish', { p_type: 'x', p_payload: {} })
  expect(direct.status).toBe(403)
  expect(direct.error?.code).toBe('42501')
})

/** The header of a kick made with `secret` `ageSeconds` ago. */
function kickHeader(secret: string, ageSeconds = 0): string {
  const at = String(Math.floor(Date.now() / 1000) - ageSeconds)
  return `t=${at},v1=${createHmac('sha256', secret).update(at).digest('hex')}`
}

async function kick(header: string | null): Promise<Response> {
  return await fetch(`${outhook.stack.apiUrl}/functions/v1/deliver/run`, {
    method: 'POST',
    headers: header === null ? {} : { 'x-outhook-kick': header },
  })
}

async function runs(): Promise<number> {
  const [row] = await outhook.sql`select count(*)::integer as n from outbox.run`
  return row?.n
}

Deno.test('a kick starts a run only with a fresh header made from the secret', async () => {
  const { workerSecret } = outhook.stack.keys
  const before = await runs()
  const refused = [
    null,
    '',
    kickHeader('another secret of thirty-two chars'),
    kickHeader(workerSecret, 301),
    kickHeader(workerSecret, -305),
    kickHeader(workerSecret).replace(/t=\d/, 't=9'),
  ]
  for (const header of refused) {
    const response = await kick(header)
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ status: 401, code: 'invalid_kick' })
  }
  // Had one of them started a run, it would be there by the time that a later one is.
  for (const ageSeconds of [0, 290]) {
    const response = await kick(kickHeader(workerSecret, ageSeconds))
    expect(response.status).toBe(202)
    expect(await response.json()).toEqual({})
  }
  const started = async (): Promise<boolean> => await runs() >= before + 2
  expect(await waitUntil(started, { timeoutMs: patienceMs })).toBe(true)
  expect(await runs()).toBe(before + 2)
})
