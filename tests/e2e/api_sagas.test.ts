/** Sagas through the API: the order of the page on sagas, its events on their way, and what is refused. */

import { expect } from '@std/expect'
import { type ApiAnswer, type ApiCall, apiCaller } from '../_support/api.ts'
import { patienceMs, startOuthook, type TestOuthook } from '../_support/outhook.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { docsBlock } from '../project/_docs.ts'

let outhook: TestOuthook
let call: (request: string, call?: ApiCall) => Promise<ApiAnswer>

Deno.test.beforeAll(async () => {
  outhook = await startOuthook({ only: ['deliver', 'api'] })
  call = apiCaller(outhook)
  await outhook.sql.file(`${projectRoot}/supabase/local/start/order_saga.sql`)
})
Deno.test.afterAll(async () => {
  await outhook?.stop()
})

function order(number: number, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { order: number, customer: 'ada', item: 'lamp', quantity: 2, ...more }
}

async function state(): Promise<{ free: number; balance: string; events: number }> {
  const [row] = await outhook.sql<{ free: number; balance: string; events: number }[]>`
    select (select free from shop.stock), (select balance from shop.account),
      (select count(*)::integer from outbox.event where type <> 'outhook.test') as events`
  if (row === undefined) throw new Error('no row')
  return row
}

Deno.test('POST /sagas/:name executes the order of the page on sagas, whose events arrive in their order', async () => {
  await outhook.createEndpoint('/hooks/saga', { p_ordering: 'partition' })
  const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const { stack } = outhook
  const { success, stdout } = await new Deno.Command('sh', {
    args: ['-c', `${docsBlock('api-saga').trimEnd()} -H 'traceparent: ${trace}'`],
    env: { API_URL: stack.apiUrl, SECRET_KEY: stack.keys.secretKey },
  }).output()
  expect(success).toBe(true)
  const text = new TextDecoder().decode(stdout)
  const result = JSON.parse(text)
  expect(result).toMatchObject({
    saga: 'place_order',
    steps: [
      { function: 'shop.reserve_stock', eventType: 'stock.reserved' },
      { function: 'shop.take_payment', eventType: 'payment.taken' },
      { function: 'shop.confirm_order', eventType: 'order.confirmed' },
    ],
    context: { order: 8, customer: 'ada', quantity: 1, paid: 20 },
    repeated: false,
  })
  expect(text).toContain('"paid": 20.00')
  const come = (): typeof outhook.receiver.received =>
    outhook.receiver.received.filter(({ headers }) => headers['x-correlation-id'] === result.id)
  expect(await waitUntil(() => come().length === 3, { timeoutMs: patienceMs })).toBe(true)
  expect(come().map(({ headers }) => headers['webhook-id'])).toEqual(result.eventIds)
  expect(come().map(({ headers }) => headers['x-event-type']))
    .toEqual(['stock.reserved', 'payment.taken', 'order.confirmed'])
  expect(come().map(({ headers }) => headers.traceparent)).toEqual([trace, trace, trace])
})

Deno.test('POST /sagas/:name does nothing twice with one key, and refuses another body', async () => {
  const headers = { 'idempotency-key': 'order-20', traceparent: 'of no use' }
  const first = await call('POST /sagas/place_order', { headers, body: order(20) })
  expect(first).toMatchObject({ status: 200, body: { repeated: false } })
  const before = await state()
  const again = await call('POST /sagas/place_order', { headers, body: order(20) })
  expect(again).toMatchObject({ status: 200, body: { ...first.body, repeated: true } })
  expect(await state()).toEqual(before)
  expect(await call('POST /sagas/place_order', { headers, body: order(21) }))
    .toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
})

Deno.test('POST /sagas/:name names saga, step and cause of a failure, after which nothing has happened', async () => {
  const before = await state()
  const { status, body } = await call('POST /sagas/place_order', {
    body: order(30, { quantity: 60_000 }),
  })
  expect([status, body]).toMatchObject([422, {
    code: 'saga_failed',
    detail: expect.stringMatching(
      /^saga place_order failed at step 2, shop\.take_payment: new row/,
    ),
    saga: {
      name: 'place_order',
      step: 2,
      function: 'shop.take_payment',
      cause: expect.stringContaining('balance_is_enough'),
      sqlState: '23514',
    },
  }])
  // The row that the constraint refused is nobody's business.
  expect(JSON.stringify(body)).not.toContain('Failing row')
  expect(await state()).toEqual(before)
})

Deno.test('POST /sagas/:name refuses what it must', async () => {
  const reader = await outhook.stack.keys.signUserJwt({
    iss: `${new URL(outhook.stack.apiUrl).origin}/auth/v1`,
    app_metadata: { org_id: 'org-1', outhook_scopes: ['events:read'] },
  })
  // The saga is not defined for tokens.
  const executor = await outhook.stack.keys.signUserJwt({
    iss: `${new URL(outhook.stack.apiUrl).origin}/auth/v1`,
    app_metadata: { org_id: 'org-1', outhook_scopes: ['sagas:execute'] },
  })
  const rows: [string, ApiCall, number, string][] = [
    ['nope', { body: {} }, 404, 'not_found'],
    ['a.b', { body: {} }, 400, 'invalid_argument'],
    ['place_order', { body: [] }, 400, 'invalid_argument'],
    ['place_order', { body: 'no json' }, 400, 'invalid_argument'],
    ['place_order', { body: '{"a": "\\u0000"}' }, 400, 'invalid_argument'],
    ['place_order', { body: {}, headers: { 'idempotency-key': 'a b' } }, 400, 'invalid_argument'],
    ['place_order', { body: {}, token: reader }, 403, 'forbidden'],
    ['place_order', { body: {}, token: executor }, 403, 'forbidden'],
    ['nope', { body: {}, token: executor }, 404, 'not_found'],
    ['place_order', { body: {}, token: null }, 401, 'unauthenticated'],
  ]
  for (const [name, request, status, code] of rows) {
    const answer = await call(`POST /sagas/${name}`, request)
    expect([name, request, answer]).toMatchObject([name, request, { status, body: { code } }])
  }
})

Deno.test('POST /sagas/:name keeps numbers whole, and tells the steps for whom they run', async () => {
  await outhook.sql`
    create function shop.echo(p_context jsonb) returns jsonb language sql
    as $$ select jsonb_build_object('org', current_setting('outhook.org_id')) $$`
  await outhook.sql`select outbox.define_saga('echo', ${
    outhook.sql.json([{ function: 'shop.echo', event_type: 'echo.done' }])
  }, true)`
  const issuer = `${new URL(outhook.stack.apiUrl).origin}/auth/v1`
  const token = await outhook.stack.keys.signUserJwt({
    iss: issuer,
    app_metadata: { org_id: 'org-7', outhook_scopes: ['sagas:execute'] },
  })
  const response = await fetch(`${outhook.stack.apiUrl}/functions/v1/api/v1/sagas/echo`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"n": 12345678901234567890, "m": 1.10, "org": "org-9"}',
  })
  expect(await response.text())
    .toMatch(/"context":\{"m": 1\.10, "n": 12345678901234567890, "org": "org-7"\}\}$/)
})

Deno.test("POST /sagas/:name tells a token nothing of a deferred trigger's error, which the log has", async () => {
  // Without the schema of its table: it is found in the search path of the request.
  await outhook.sql`create table public.saga_audit (note text)`
  await outhook.sql`grant insert, select on public.saga_audit to service_role`
  await outhook.sql`
    create function public.check_saga_audit() returns trigger language plpgsql
    as $$ begin
      if exists (select from saga_audit a where a.note = 'refused') then
        raise exception 'row of another customer' using errcode = 'OH001', hint = 'Ask the shop';
      end if;
      return null;
    end $$`
  await outhook.sql`
    create constraint trigger checked after insert on public.saga_audit
    deferrable initially deferred for each row execute function public.check_saga_audit()`
  await outhook.sql`
    create function shop.note(p_context jsonb) returns jsonb language sql
    as $$ insert into public.saga_audit values (p_context ->> 'note') returning '{}'::jsonb $$`
  await outhook.sql`select outbox.define_saga('note', ${
    outhook.sql.json([{ function: 'shop.note', event_type: 'note.written' }])
  }, true)`
  const token = await outhook.stack.keys.signUserJwt({
    iss: `${new URL(outhook.stack.apiUrl).origin}/auth/v1`,
    app_metadata: { org_id: 'org-7', outhook_scopes: ['sagas:execute'] },
  })
  expect(await call('POST /sagas/note', { body: { note: 'kept' }, token }))
    .toMatchObject({ status: 200 })
  const before = await state()
  const { status, body } = await call('POST /sagas/note', { body: { note: 'refused' }, token })
  expect([status, body]).toMatchObject([422, {
    code: 'saga_failed',
    detail: 'The saga failed after its last step',
  }])
  expect(JSON.stringify(body)).not.toMatch(/customer|shop/)
  expect(await call('POST /sagas/note', { body: { note: 'refused' } })).toMatchObject({
    status: 422,
    body: { detail: 'saga note failed after its last step: row of another customer' },
  })
  expect(await state()).toEqual(before)
})
