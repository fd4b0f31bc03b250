/** How a call names its schema, its function and its values. */

import { expect } from '@std/expect'
import { startTestGateway, type TestGateway } from './fixtures/gateway.ts'

let gateway: TestGateway

Deno.test.beforeAll(async () => {
  gateway = await startTestGateway()
})
Deno.test.afterAll(async () => {
  await gateway.stop()
})

/** Status and JSON body of a call. */
async function call(name: string, init?: RequestInit): Promise<[number, unknown]> {
  const response = await gateway.rpc(name, init)
  return [response.status, await response.json()]
}

Deno.test('rpc() binds by name, in any order, and leaves defaults to the function', async () => {
  const client = gateway.client(gateway.keys.secretKey)
  expect((await client.rpc('add', { p_b: 1, p_a: 2 })).data).toBe(3)
  expect((await client.rpc('add', { p_a: 2 })).data).toBe(12)
})

Deno.test('rpc() passes a JSON null as NULL, not as the default', async () => {
  const client = gateway.client(gateway.keys.secretKey)
  expect((await client.rpc('is_null')).data).toBe(false)
  expect((await client.rpc('is_null', { p_value: null })).data).toBe(true)
})

Deno.test('rpc() converts to the declared types', async () => {
  const { data } = await gateway.client(gateway.keys.secretKey).rpc('typed', {
    p_ids: [crypto.randomUUID(), crypto.randomUUID()],
    p_at: '1970-01-01T00:01:00Z',
    p_body: { deep: [1] },
  })
  expect(data).toEqual({ ids: 2, type: 'object', at: 60 })
})

Deno.test('rpc() keeps a json argument as the bytes received', async () => {
  const text = '{"z":  12345678901234567890,  "a": 1.10, "ü": "\\u00e9\'\\\\"}'
  const response = await gateway.rpc('keep', { body: `{"p_json": ${text}}` })
  expect(await response.text()).toBe(text)
})

Deno.test('rpc() gives the whole body to a single unnamed parameter', async () => {
  const text = '[{"b": 12345678901234567890,  "a": 1.10}, {"a": 1, "b": 2}]'
  const json = await gateway.rpc('keep_whole', { body: text })
  expect(await json.text()).toBe(text)
  expect(
    await call('keep_text', { body: "it's {not} json", headers: { 'content-type': 'text/plain' } }),
  ).toEqual([200, "it's {not} json"])
  const bytes = new Uint8Array([0, 255, 39])
  expect(
    await call('keep_bytes', {
      body: bytes,
      headers: { 'content-type': 'application/octet-stream' },
    }),
  ).toEqual([200, '00ff27'])
})

Deno.test('rpc() takes values from the query of a GET', async () => {
  const client = gateway.client(gateway.keys.secretKey)
  expect((await client.rpc('add', { p_a: 2, p_b: 3 }, { get: true })).data).toBe(5)
  expect(await call('total?p_n=1&p_n=2&p_n=3', { method: 'GET' })).toEqual([200, 6])
  const ids = await client.rpc('typed', { p_ids: [], p_at: '1970-01-01', p_body: '{"a":1}' }, {
    get: true,
  })
  expect(ids.data).toEqual({ ids: 0, type: 'object', at: 0 })
})

Deno.test('rpc() takes values from a form', async () => {
  const body = new URLSearchParams({ p_a: '2', p_b: '5' })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  expect(await call('add', { body, headers })).toEqual([200, 7])
})

Deno.test('rpc() fills a variadic parameter from an array', async () => {
  const { data } = await gateway.client(gateway.keys.secretKey).rpc('total', { p_n: [1, 2] })
  expect(data).toBe(3)
})

Deno.test('rpc() takes the first of an array of objects with equal keys', async () => {
  expect(await call('add', { body: '[{"p_a":1},{"p_a":5}]' })).toEqual([200, 11])
  for (const body of ['[{"p_a":1},{"p_b":5}]', '[1]', '[{"p_a":1},1]']) {
    expect(await call('add', { body })).toEqual([400, {
      code: 'PGRST102',
      details: null,
      hint: null,
      message: 'All object keys must match',
    }])
  }
  expect(await call('keep_whole', { body: '5' })).toEqual([200, []])
})

Deno.test('rpc() quotes what needs quoting', async () => {
  const { data } = await gateway.client(gateway.keys.secretKey).rpc('Odd "name"', {
    'p "q"': `'; select 1; --\\`,
  })
  expect(data).toBe(`'; select 1; --\\`)
})

Deno.test('rpc() reads an empty body as no values and refuses broken JSON', async () => {
  expect(await call('is_null', { body: '' })).toEqual([200, false])
  for (const body of ['{', '{"p_value":1}}', 'nope']) {
    expect(await call('is_null', { body })).toEqual([400, {
      code: 'PGRST102',
      details: null,
      hint: null,
      message: 'Empty or invalid json',
    }])
  }
})

Deno.test('rpc() refuses text that Postgres cannot hold', async () => {
  const [status, body] = await call('keep_text', {
    body: 'a\0b',
    headers: { 'content-type': 'text/plain' },
  })
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: '22021' })
  const escaped = await gateway.client(gateway.keys.secretKey).rpc('typed', {
    p_ids: [],
    p_at: 'now',
    p_body: 'a\0b',
  })
  expect([escaped.status, escaped.error?.code]).toEqual([400, '22P05'])
})

Deno.test('rpc() reports a value that does not fit its type', async () => {
  const { status, error } = await gateway.client(gateway.keys.secretKey).rpc('add', { p_a: 'x' })
  expect(status).toBe(400)
  expect(error).toMatchObject({
    code: '22P02',
    message: 'invalid input syntax for type integer: "x"',
  })
})

Deno.test('rpc() says which function it did not find', async () => {
  const { status, error } = await gateway.client(gateway.keys.secretKey).rpc('add', {
    p_z: 1,
    p_a: 2,
  })
  expect(status).toBe(404)
  expect(error).toMatchObject({
    code: 'PGRST202',
    message: 'Could not find the function fixture.add(p_a, p_z) in the schema cache',
    details: 'Searched for the function fixture.add with parameters p_a, p_z or with a single ' +
      'unnamed json/jsonb parameter, but no matches were found in the schema cache.',
  })
  expect((await call('add'))[1]).toMatchObject({
    message: 'Could not find the function fixture.add without parameters in the schema cache',
  })
})

Deno.test('rpc() finds a function made a moment ago', async () => {
  const client = gateway.client(gateway.keys.secretKey)
  expect((await client.rpc('fresh')).error?.code).toBe('PGRST202')
  await gateway.pg.psql(`create function fixture.fresh() returns int language sql as 'select 1'`)
  expect((await client.rpc('fresh')).data).toBe(1)
  await gateway.pg.psql('drop function fixture.fresh()')
  expect((await client.rpc('fresh')).error?.code).toBe('PGRST202')
})

Deno.test('rpc() follows a function whose arguments change between two calls', async () => {
  const client = gateway.client(gateway.keys.secretKey)
  await gateway.pg.psql(`create function fixture.turned(p_a int) returns text language sql
    as $$ select 'int' $$`)
  expect((await client.rpc('turned', { p_a: 1 })).data).toBe('int')
  await gateway.pg.psql(`drop function fixture.turned(int);
    create function fixture.turned(p_a text) returns text language sql as $$ select 'text' $$`)
  expect((await client.rpc('turned', { p_a: '1' })).data).toBe('text')
  await gateway.pg.psql('drop function fixture.turned(text)')
})

Deno.test('rpc() does not guess between overloads', async () => {
  const { status, error } = await gateway.client(gateway.keys.secretKey).rpc('twice', { p_n: 1 })
  expect(status).toBe(300)
  expect(error).toMatchObject({
    code: 'PGRST203',
    message: 'Could not choose the best candidate function between: ' +
      'fixture.twice(p_n => integer), fixture.twice(p_n => text)',
  })
})

Deno.test('rpc() serves exposed schemas only', async () => {
  const client = gateway.client(gateway.keys.secretKey)
  // SAFETY: the name is wrong on purpose, which the types do not allow.
  const { status, error } = await client.schema('hidden' as 'fixture').rpc('secret')
  expect(status).toBe(406)
  expect(error).toMatchObject({
    code: 'PGRST106',
    message: 'Invalid schema: hidden',
    hint: 'Only the following schemas are exposed: fixture, public',
  })
  expect(await call('add?p_a=1', { method: 'GET', headers: { 'accept-profile': 'public' } }))
    .toMatchObject([404, { code: 'PGRST202' }])
})

Deno.test('rpc() takes GET, HEAD and POST only', async () => {
  expect(await call('add', { method: 'DELETE' })).toMatchObject([405, {
    code: 'PGRST101',
    message: 'Cannot use the DELETE method on RPC',
  }])
})

Deno.test('the gateway says so where it does not emulate PostgREST', async () => {
  const { status, error } = await gateway.client(gateway.keys.secretKey).rpc('pairs', { p_to: 2 })
    .limit(1)
  expect(status).toBe(501)
  expect(error?.message).toContain('"limit"')
  const table = await fetch(`${gateway.url}/rest/v1/item?select=*`)
  expect(table.status).toBe(501)
  expect((await table.json()).message).toContain('/rest/v1/item')
})
