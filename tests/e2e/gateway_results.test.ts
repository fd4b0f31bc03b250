/** What comes back: shapes, ranges, statuses and headers. */

import { expect } from '@std/expect'
import { type FixtureClient, startTestGateway, type TestGateway } from './fixtures/gateway.ts'

let gateway: TestGateway
let client: FixtureClient

Deno.test.beforeAll(async () => {
  gateway = await startTestGateway({ maxRows: 5 })
  client = gateway.client(gateway.keys.secretKey)
})
Deno.test.afterAll(async () => {
  await gateway.stop()
})

Deno.test('rpc() returns json as it is stored', async () => {
  const response = await gateway.rpc('big_number')
  expect(await response.text()).toBe('{"z":  12345678901234567890, "a": 1.10}')
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect((await client.rpc('empty_jsonb')).data).toBe(null)
})

const shapes: [string, Record<string, unknown>, unknown][] = [
  ['add', { p_a: 1 }, 11],
  ['keep_whole', {}, {}],
  ['numbers', { p_to: 3 }, [1, 2, 3]],
  ['numbers', { p_to: 0 }, []],
  ['pairs', { p_to: 2 }, [{ n: 1, _row: 'row 1' }, { n: 2, _row: 'row 2' }]],
  ['pairs', { p_to: 0 }, []],
  ['column_only', {}, [{ n: 7 }]],
  ['outs', {}, { x: 1, y: 'z' }],
  ['item_row', {}, { id: 3, note: 'three' }],
]

for (const [name, values, expected] of shapes) {
  Deno.test(`rpc() shapes ${name}(${JSON.stringify(values)}) as PostgREST does`, async () => {
    const { data, error, status } = await client.rpc(name, values)
    expect({ data, error, status }).toEqual({ data: expected, error: null, status: 200 })
  })
}

Deno.test('rpc() answers a void function with 204 and no body', async () => {
  const response = await gateway.rpc('nothing')
  expect([response.status, await response.text()]).toEqual([204, ''])
  expect(response.headers.get('content-type')).toBe(null)
  expect((await client.rpc('nothing')).data).toBe(null)
})

Deno.test('rpc() cuts a set at max_rows without an error', async () => {
  expect((await client.rpc('numbers', { p_to: 9 })).data).toEqual([1, 2, 3, 4, 5])
  const counted = await client.rpc('numbers', { p_to: 9 }, { count: 'exact' })
  expect([counted.status, counted.count, counted.data]).toEqual([206, 9, [1, 2, 3, 4, 5]])
})

Deno.test('rpc() tells the range of rows', async () => {
  const ranges = []
  for (const body of ['{"p_to":3}', '{"p_to":0}']) {
    const response = await gateway.rpc('numbers', { body })
    await response.body?.cancel()
    ranges.push(response.headers.get('content-range'))
  }
  expect(ranges).toEqual(['0-2/*', '*/*'])
})

Deno.test('rpc().single() wants exactly one row', async () => {
  expect((await client.rpc('pairs', { p_to: 1 }).single()).data).toEqual({ n: 1, _row: 'row 1' })
  expect((await client.rpc('outs').single()).data).toEqual({ x: 1, y: 'z' })
  for (const [to, rows] of [[0, 0], [2, 2]]) {
    const { status, error } = await client.rpc('pairs', { p_to: to }).single()
    expect(status).toBe(406)
    expect(error).toMatchObject({
      code: 'PGRST116',
      message: 'Cannot coerce the result to a single JSON object',
      details: `The result contains ${rows} rows`,
    })
  }
})

Deno.test('rpc().single() undoes what a call with too many rows wrote', async () => {
  const many = await client.rpc('put_many', { p_from: 50, p_to: 52 }).single()
  expect(many.error?.code).toBe('PGRST116')
  const one = await client.rpc('put_many', { p_from: 53, p_to: 53 }).single()
  expect(one.data).toBe(53)
  const { stdout } = await gateway.pg.psql('select id from fixture.item where id >= 50')
  expect(stdout).toBe('53')
})

Deno.test('rpc({ head }) leaves the body out', async () => {
  const { data, count, status } = await client.rpc('numbers', { p_to: 3 }, {
    head: true,
    count: 'exact',
  })
  expect([data, count, status]).toEqual([null, 3, 200])
  const post = await gateway.rpc('numbers', {
    body: '{"p_to":3}',
    headers: { prefer: 'return=minimal' },
  })
  expect([post.status, await post.text()]).toEqual([204, ''])
})

Deno.test('rpc() refuses a media type that it does not have', async () => {
  const response = await gateway.rpc('add', { headers: { accept: 'text/html' } })
  expect([response.status, (await response.json()).code]).toEqual([406, 'PGRST107'])
})

Deno.test('a function sets status and headers of its answer', async () => {
  const response = await gateway.rpc('respond', {
    body: JSON.stringify({
      p_status: '418',
      p_headers: '[{"X-One":"1"},{"Set-Cookie":"a=1"},{"Set-Cookie":"b=2"}]',
    }),
  })
  expect([response.status, await response.json()]).toEqual([418, { answered: true }])
  expect(response.headers.get('x-one')).toBe('1')
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
})

Deno.test('a function that sets a broken status or header is told so', async () => {
  const status = await client.rpc('respond', { p_status: 'teapot', p_headers: '' })
  expect([status.status, status.error?.code]).toEqual([500, 'PGRST112'])
  const headers = await client.rpc('respond', { p_status: '', p_headers: '{"X-One":"1"}' })
  expect([headers.status, headers.error?.code]).toEqual([500, 'PGRST111'])
})

Deno.test('the gateway answers a preflight and lets any origin in', async () => {
  const preflight = await fetch(`${gateway.url}/rest/v1/rpc/add`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'apikey,content-profile',
    },
  })
  await preflight.body?.cancel()
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
    204,
    '*',
  ])
  expect(preflight.headers.get('access-control-allow-headers')).toBe('apikey,content-profile')
  const response = await gateway.rpc('add', { headers: { origin: 'https://app.example' } })
  await response.body?.cancel()
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
})
