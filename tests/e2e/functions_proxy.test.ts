/** `/functions/v1/<name>`: what reaches a function, what comes back, and what the platform refuses. */

import { expect } from '@std/expect'
import { patienceMs } from '../_support/patience.ts'
import { startTestGateway, type TestGateway } from './fixtures/gateway.ts'

let gateway: TestGateway

Deno.test.beforeAll(async () => {
  gateway = await startTestGateway({
    withFunctions: true,
    functionIdleMs: 2_000,
    // A process takes seconds to start on a busy machine.
    functionBootMs: 10_000,
  })
  await gateway.functions.targets.get('echo')?.origin(patienceMs)
})
Deno.test.afterAll(async () => {
  await gateway.stop()
})

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  return await fetch(`${gateway.url}/functions/v1/${path}`, { redirect: 'manual', ...init })
}

Deno.test('a function sees its name in the path, the query and the body', async () => {
  const response = await call('echo/request?a=1%20b', { method: 'PUT', body: 'ü' })
  expect(await response.json()).toMatchObject({
    method: 'PUT',
    path: '/echo/request',
    query: '?a=1%20b',
    body: 'ü',
  })
})

Deno.test('a function sees the headers sent and where they came from', async () => {
  const response = await call('echo/request', {
    headers: {
      authorization: 'Bearer sb_secret_x',
      apikey: 'k',
      'x-own': 'Yes',
      'x-hop': '1',
      connection: 'x-hop',
      'x-forwarded-for': '203.0.113.7',
    },
  })
  const { headers } = await response.json()
  expect(headers).toMatchObject({
    authorization: 'Bearer sb_secret_x',
    apikey: 'k',
    'x-own': 'Yes',
    'x-forwarded-for': '203.0.113.7, 127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': new URL(gateway.url).host,
    'x-forwarded-port': new URL(gateway.url).port,
  })
  expect(headers).not.toHaveProperty('x-hop')
})

Deno.test('a function keeps its status and headers, and redirects are not followed', async () => {
  const response = await call('echo/away')
  await response.body?.cancel()
  expect([response.status, response.headers.get('location')]).toEqual([302, 'https://example.com/'])
})

Deno.test('bodies stream through: the answer begins before the request ends', async () => {
  const pipe = new TransformStream<Uint8Array, Uint8Array>()
  const writer = pipe.writable.getWriter()
  const response = await call('echo/stream', {
    method: 'POST',
    body: pipe.readable.pipeThrough(
      new TransformStream({ start: (c) => c.enqueue(bytes('one ')) }),
    ),
  })
  expect(response.headers.get('x-kept')).toBe('yes')
  const reader = response.body?.getReader()
  expect(text((await reader?.read())?.value)).toBe('one ')
  await writer.write(bytes('two'))
  await writer.close()
  expect(text((await reader?.read())?.value)).toBe('two')
  expect((await reader?.read())?.done).toBe(true)
})

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value)
}

function text(value: Uint8Array | undefined): string {
  return new TextDecoder().decode(value)
}

Deno.test('a page is served as plain text, as on a hosted project', async () => {
  const response = await call('echo/page')
  expect(await response.text()).toBe('<p>page</p>')
  expect(response.headers.get('content-type')).toBe('text/plain')
})

Deno.test('a function that stays silent is a 504', async () => {
  const response = await call('echo/silence')
  expect([response.status, response.headers.get('sb-error-code')]).toEqual([504, 'IDLE_TIMEOUT'])
  expect((await response.json()).message).toContain('2 seconds')
})

Deno.test('a function whose process ends is a 500, and the next request is served', async () => {
  const response = await call('echo/exit')
  expect([response.status, (await response.json()).code]).toEqual([500, 'WORKER_ERROR'])
  expect((await call('echo/rights')).status).toBe(200)
})

Deno.test('a function that does not start is a 503 after a wait', async () => {
  const startedAt = performance.now()
  const response = await call('broken')
  expect([response.status, (await response.json()).code]).toEqual([503, 'BOOT_ERROR'])
  expect(performance.now() - startedAt).toBeGreaterThan(9_900)
})

Deno.test('an unknown or disabled function is a 404', async () => {
  for (const name of ['nobody', 'absent', '', '%zz']) {
    const response = await call(name)
    expect([response.status, (await response.json()).code]).toEqual([404, 'NOT_FOUND'])
  }
})

Deno.test('the methods of edge functions pass, others are a 405', async () => {
  const statuses: Record<string, number> = {}
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND']) {
    const response = await call('echo/request', { method })
    await response.body?.cancel()
    statuses[method] = response.status
  }
  expect(statuses).toEqual({
    GET: 200,
    POST: 200,
    PUT: 200,
    PATCH: 200,
    DELETE: 200,
    OPTIONS: 200,
    HEAD: 405,
    PROPFIND: 405,
  })
})
