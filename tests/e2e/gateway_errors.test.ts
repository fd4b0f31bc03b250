/** Which HTTP answer a Postgres error becomes. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import postgres from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { type FixtureClient, startTestGateway, type TestGateway } from './fixtures/gateway.ts'

let gateway: TestGateway
let client: FixtureClient

Deno.test.beforeAll(async () => {
  gateway = await startTestGateway()
  client = gateway.client(gateway.keys.secretKey)
})
Deno.test.afterAll(async () => {
  await gateway.stop()
})

/** SQLSTATE → HTTP status; the rows of PostgREST's documentation, and one of each class beside. */
const statuses: [string, number][] = [
  ['08006', 503],
  ['53100', 503],
  ['53400', 500],
  ['57P01', 503],
  ['57014', 500],
  ['23503', 409],
  ['23505', 409],
  ['23514', 400],
  ['42883', 404],
  ['42P01', 404],
  ['42P17', 500],
  ['42501', 403],
  ['42703', 400],
  ['28000', 403],
  ['0LP01', 403],
  ['0P000', 403],
  ['25006', 405],
  ['25001', 500],
  ['54000', 500],
  ['55P03', 500],
  ['2D000', 500],
  ['38000', 500],
  ['39000', 500],
  ['3B000', 500],
  ['40P01', 500],
  ['09000', 500],
  ['58000', 500],
  ['F0000', 500],
  ['HV000', 500],
  ['XX000', 500],
  ['P0002', 500],
  ['P0001', 400],
  ['21000', 500],
  ['22023', 400],
  ['22012', 400],
  ['PT402', 402],
  ['PT409', 409],
  ['PT429', 429],
  ['PTXYZ', 500],
  ['OH001', 400],
]

Deno.test('rpc() turns each SQLSTATE into the status that PostgREST gives it', async () => {
  const seen: [string, number, string | undefined][] = []
  for (const [code] of statuses) {
    const { status, error } = await client.rpc('fail', { p_code: code })
    seen.push([code, status, error?.code])
  }
  expect(seen).toEqual(statuses.map(([code, status]) => [code, status, code]))
})

Deno.test('rpc() hands on message, details and hint', async () => {
  const response = await gateway.rpc('fail', {
    body: JSON.stringify({ p_code: 'PT404', p_message: 'm', p_detail: 'd', p_hint: 'h' }),
  })
  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({ code: 'PT404', message: 'm', details: 'd', hint: 'h' })
  expect(response.headers.get('proxy-status')).toBe('PostgREST; error=PT404')
})

Deno.test('rpc() turns a plain exception into 400', async () => {
  const { status, error } = await client.rpc('fail_plainly')
  expect(status).toBe(400)
  expect(error).toMatchObject({ code: 'P0001', message: 'plain', details: null, hint: null })
})

Deno.test('rpc() that fails leaves neither key nor argument in the log of the database', async () => {
  await client.rpc('fail', { p_code: 'P0001', p_message: 'logged', p_hint: 'an argument' })
  const path = join(gateway.pg.dataDir, 'postgres.log')
  const isLogged = async (): Promise<boolean> => {
    return (await Deno.readTextFile(path)).includes('ERROR:  logged')
  }
  expect(await waitUntil(isLogged, { timeoutMs: patienceMs })).toBe(true)
  const log = await Deno.readTextFile(path)
  for (const secret of [gateway.keys.secretKey, gateway.keys.serviceRoleKey, 'p_hint']) {
    expect(log).not.toContain(secret)
  }
})

Deno.test('rpc() asks an anonymous caller without the right to log in', async () => {
  const response = await gateway.rpc('fail', {
    body: '{"p_code":"42501"}',
    headers: { apikey: gateway.keys.publishableKey },
  })
  await response.body?.cancel()
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})

Deno.test('rpc() turns the words of safeupdate into 400, and of a missing role into 401', async () => {
  const safe = await client.rpc('fail', {
    p_code: '21000',
    p_message: 'UPDATE requires a WHERE clause',
  })
  expect(safe.status).toBe(400)
  const role = await client.rpc('fail', {
    p_code: '22023',
    p_message: 'role "x" does not exist',
  })
  expect(role.status).toBe(401)
})

Deno.test('a PGRST raise dictates the whole answer', async () => {
  const response = await gateway.rpc('fail', {
    body: JSON.stringify({
      p_code: 'PGRST',
      p_message: '{"code":"SLOW","message":"too fast","details":"d","hint":"h"}',
      p_detail: '{"status":429,"headers":{"Retry-After":"3"}}',
    }),
  })
  expect(response.status).toBe(429)
  expect(response.headers.get('retry-after')).toBe('3')
  expect(await response.json()).toEqual({
    code: 'SLOW',
    message: 'too fast',
    details: 'd',
    hint: 'h',
  })
})

Deno.test('a malformed PGRST raise is PGRST121 and says which part is wrong', async () => {
  const message = '{"code":"X","message":"m"}'
  const malformed: [Record<string, string>, string][] = [
    [{ p_message: 'no json' }, 'Invalid JSON value for MESSAGE'],
    [{ p_message: message, p_detail: '{"status":429}' }, 'Invalid JSON value for DETAIL'],
    [
      { p_message: message, p_detail: '{"status":"x","headers":{}}' },
      'Invalid JSON value for DETAIL',
    ],
  ]
  for (const [values, details] of malformed) {
    const { status, error } = await client.rpc('fail', { p_code: 'PGRST', ...values })
    expect([status, error?.code]).toEqual([500, 'PGRST121'])
    expect(error?.details).toContain(details)
  }
  const missing = await client.rpc('no_detail')
  expect(missing.error?.details).toBe('DETAIL is missing in the RAISE statement')
})

Deno.test('stop() lets a short call end and gives up on a long one', async () => {
  await using own = disposable(await startTestGateway())
  await own.pg.psql(`
    create function fixture.nap(p_lock bigint) returns text language sql
    as $$ select 'rested' from pg_advisory_xact_lock(p_lock) $$;
    grant execute on function fixture.nap to service_role`)
  const holder = postgres(own.pg.adminDbUrl, { max: 1 })
  await holder`select pg_advisory_lock(1), pg_advisory_lock(2)`
  const asleep = async (): Promise<boolean> => {
    const [row] = await holder`
      select count(*) from pg_locks where locktype = 'advisory' and not granted`
    return row?.count === '2'
  }
  const nap = async (lock: number): Promise<unknown> =>
    await (await own.rpc('nap', { body: `{"p_lock":${lock}}` })).json()
  const [short, long] = [nap(1), nap(2)]
  expect(await waitUntil(asleep, { timeoutMs: patienceMs })).toBe(true)
  const stopped = own.gateway.stop()
  await holder`select pg_advisory_unlock(1)`
  await stopped
  expect(await short).toBe('rested')
  expect(await long).toMatchObject({ code: 'PGRST000' })
  await holder.end()
})

Deno.test('rpc() says that there is no database while there is none', async () => {
  await using own = disposable(await startTestGateway())
  await own.pg.stop()
  const { status, error } = await own.client(own.keys.secretKey).rpc('add', { p_a: 1 })
  expect([status, error?.code]).toEqual([503, 'PGRST000'])
})

function disposable(started: TestGateway): TestGateway & AsyncDisposable {
  return { ...started, [Symbol.asyncDispose]: () => started.stop() }
}
