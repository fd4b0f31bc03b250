/** The server of the console: who may call it, and what reaches the API. */

import { expect } from '@std/expect'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { StaticFile } from '../../console/build/build.ts'
import { writeRedirect } from '../../console/server/browser.ts'
import { contentSecurityPolicy } from '../../console/server/headers.ts'
import { type RunningConsole, serveConsole } from '../../console/server/serve.ts'
import { startUpstream, type Upstream } from './_support/upstream.ts'

const secretKey = 'sb_secret_of_the_test'
const document: StaticFile = { bytes: new TextEncoder().encode('<p>page'), type: 'text/html' }
let upstream: Upstream
let running: RunningConsole

Deno.test.beforeAll(() => {
  upstream = startUpstream()
  running = serveConsole({
    files: new Map([['/', document]]),
    upstream: { url: upstream.url, secretKey },
    port: 0,
  })
})
Deno.test.afterAll(async () => {
  await running.stop()
  await upstream.stop()
})

/** A request with exactly these headers, which `fetch` would not send; the response as text. */
function send(head: string[], body = ''): Promise<string> {
  const { port } = new URL(running.url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        [...head, 'connection: close', `content-length: ${body.length}`, '', body].join('\r\n'),
      )
    })
    socket.on('data', (chunk) => text += chunk)
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
}

const statusOf = (response: string): number => Number(response.split(' ')[1])
const host = (): string => new URL(running.url).host
const tokenOf = (link: string): string => new URL(link).hash.replace('#token=', '')

/** Opens a session, and returns the value of `cookie`. */
async function openSession(): Promise<string> {
  const response = await fetch(`${running.url}/session`, {
    method: 'POST',
    headers: { origin: running.url },
    body: tokenOf(running.newLink()),
  })
  await response.body?.cancel()
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

Deno.test('a link opens the console once', async () => {
  const body = tokenOf(running.newLink())
  const open = (): Promise<Response> =>
    fetch(`${running.url}/session`, { method: 'POST', headers: { origin: running.url }, body })
  const first = await open()
  expect(first.status).toBe(200)
  const cookie = first.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/^outhook_console_\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/)
  const second = await open()
  expect(second.status).toBe(401)
  expect((await second.json()).remedy).toMatch(/press Enter/)
  await first.body?.cancel()
})

Deno.test('a new link replaces the one that was not opened', async () => {
  const old = tokenOf(running.newLink())
  running.newLink()
  const response = await fetch(`${running.url}/session`, {
    method: 'POST',
    headers: { origin: running.url },
    body: old,
  })
  expect(response.status).toBe(401)
  await response.body?.cancel()
})

Deno.test('a wrong token, a long one and none are refused', async () => {
  for (const body of ['wrong', 'x'.repeat(10_000), '']) {
    const response = await fetch(`${running.url}/session`, {
      method: 'POST',
      headers: { origin: running.url },
      body,
    })
    expect(response.status).toBe(401)
    await response.body?.cancel()
  }
})

Deno.test('without the cookie of a session nothing reaches the API', async () => {
  const before = upstream.requests.length
  for (
    const cookie of ['', 'outhook_console_1=x', `outhook_console_${new URL(running.url).port}=x`]
  ) {
    const response = await fetch(`${running.url}/api/v1/events`, { headers: { cookie } })
    expect(response.status).toBe(401)
    await response.body?.cancel()
  }
  expect(upstream.requests.length).toBe(before)
})

Deno.test('another host name is refused, so that DNS rebinding reads nothing', async () => {
  const cookie = await openSession()
  for (const name of ['evil.example', `evil.example:${new URL(running.url).port}`, '127.0.0.1']) {
    const response = await send([
      'GET /api/v1/events HTTP/1.1',
      `host: ${name}`,
      `cookie: ${cookie}`,
    ])
    expect(statusOf(response)).toBe(421)
  }
})

Deno.test('a page of another origin is refused, also with the cookie', async () => {
  const cookie = await openSession()
  const request = (method: string, ...more: string[]): Promise<string> =>
    send([`${method} /api/v1/events HTTP/1.1`, `host: ${host()}`, `cookie: ${cookie}`, ...more])
  expect(statusOf(await request('POST', 'origin: http://evil.example'))).toBe(403)
  expect(statusOf(await request('POST', 'origin: null'))).toBe(403)
  expect(statusOf(await request('POST'))).toBe(403)
  expect(statusOf(await request('GET', 'origin: http://evil.example'))).toBe(403)
  expect(statusOf(await request('GET', 'sec-fetch-site: cross-site'))).toBe(403)
  expect(statusOf(await request('GET', 'sec-fetch-site: same-site'))).toBe(403)
  expect(statusOf(await request('GET', 'sec-fetch-site: same-origin'))).toBe(200)
  expect(statusOf(await request('POST', `origin: http://${host()}`))).toBe(200)
})

Deno.test('the API gets the key and only the headers that it needs', async () => {
  const cookie = await openSession()
  const response = await fetch(`${running.url}/api/v1/events?limit=1`, {
    method: 'POST',
    headers: {
      cookie,
      origin: running.url,
      'content-type': 'application/json',
      'x-org-id': 'org-1',
      'idempotency-key': 'k',
      'if-match': '"2"',
      'user-agent': 'Mozilla/5.0',
      authorization: 'Bearer x',
      apikey: 'another',
      'x-forwarded-for': '10.0.0.1',
    },
    body: '{"a": 1}',
  })
  const got = upstream.requests.at(-1)
  expect(got?.url.endsWith('/functions/v1/api/v1/events?limit=1')).toBe(true)
  expect(got?.body).toBe('{"a": 1}')
  const names = ['x-org-id', 'idempotency-key', 'if-match', 'user-agent', 'apikey', 'content-type']
  expect(names.map((name) => got?.headers.get(name))).toEqual([
    'org-1',
    'k',
    '"2"',
    'outhook-console',
    secretKey,
    'application/json',
  ])
  for (const name of ['cookie', 'origin', 'authorization', 'x-forwarded-for']) {
    expect([name, got?.headers.get(name)]).toEqual([name, null])
  }
  expect(response.headers.get('etag')).toBe('"3"')
  expect(response.headers.get('set-cookie')).toBe(null)
  expect(response.headers.get('access-control-allow-origin')).toBe(null)
  expect(JSON.stringify([...response.headers]) + await response.text()).not.toContain(secretKey)
})

Deno.test('a redirect of the API is not followed, so the key goes nowhere else', async () => {
  const cookie = await openSession()
  const response = await fetch(`${running.url}/api/v1/redirect`, { headers: { cookie } })
  expect(response.status).toBe(502)
  expect((await response.json()).code).toBe('unavailable')
})

Deno.test('only paths below /api/ reach the API', async () => {
  const cookie = await openSession()
  const before = upstream.requests.length
  for (
    const path of ['/rest/v1/rpc/dispatch', '/api/../rest/v1', '/api', '//evil.example/api/v1']
  ) {
    const response = await send([
      `GET ${path} HTTP/1.1`,
      `host: ${host()}`,
      `cookie: ${cookie}`,
    ])
    expect([path, response.includes('<p>page')]).toEqual([path, true])
  }
  expect(upstream.requests.length).toBe(before)
})

Deno.test('only paths of the API get the key, also after decoding', async () => {
  const cookie = await openSession()
  const before = upstream.requests.length
  for (
    const path of [
      '/api/',
      '/api/health',
      '/api//v1/events',
      '/api/v1/..%2f..%2f..%2frest%2fv1',
      '/api/v1/..%5c..%5crest',
      '/api/v1/a%2f%2e%2e%2fb',
      '/api/v1/%ff',
    ]
  ) {
    const response = await send([`GET ${path} HTTP/1.1`, `host: ${host()}`, `cookie: ${cookie}`])
    expect([path, statusOf(response)]).toEqual([path, 404])
  }
  expect(upstream.requests.length).toBe(before)
  const named = await send([
    'GET /api/v1/event-types/order%2Fpaid..v1 HTTP/1.1',
    `host: ${host()}`,
    `cookie: ${cookie}`,
  ])
  expect(statusOf(named)).toBe(200)
  expect(upstream.requests.at(-1)?.url.endsWith('/api/v1/event-types/order%2Fpaid..v1')).toBe(true)
})

Deno.test('the browser gets the name of a private file, which leads to the link', async () => {
  const folder = await Deno.makeTempDir()
  const file = join(folder, 'console.html')
  // A file of another start, which others can read.
  await Deno.writeTextFile(file, 'old', { mode: 0o644 })
  const link = running.newLink()
  await writeRedirect(link, file)
  expect(await Deno.readTextFile(file)).toContain(`content="0; url=${link}"`)
  expect((await Deno.stat(file)).mode! & 0o777).toBe(0o600)
  await Deno.remove(folder, { recursive: true })
})

Deno.test('a body beyond the limit of the API is refused', async () => {
  const cookie = await openSession()
  const response = await fetch(`${running.url}/api/v1/events`, {
    method: 'POST',
    headers: { cookie, origin: running.url },
    body: 'x'.repeat(4 * 1024 * 1024 + 1),
  })
  expect(response.status).toBe(413)
  await response.body?.cancel()
})

Deno.test('every response has the policy and is not stored', async () => {
  const paths = ['/', '/events/1', '/api/v1/events', '/session', '/assets/none.js']
  for (const path of paths) {
    const response = await fetch(`${running.url}${path}`)
    await response.body?.cancel()
    expect(response.headers.get('content-security-policy')).toBe(contentSecurityPolicy)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  }
  expect(contentSecurityPolicy).not.toContain('unsafe')
})

Deno.test('the console says so when the API does not respond', async () => {
  const alone = serveConsole({
    files: new Map([['/', document]]),
    upstream: { url: 'http://127.0.0.1:1/functions/v1/api', secretKey },
    port: 0,
  })
  const opened = await fetch(`${alone.url}/session`, {
    method: 'POST',
    headers: { origin: alone.url },
    body: tokenOf(alone.newLink()),
  })
  await opened.body?.cancel()
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const response = await fetch(`${alone.url}/api/v1/health`, { headers: { cookie } })
  expect(response.status).toBe(502)
  expect((await response.json()).detail).toBe('The API at http://127.0.0.1:1 does not respond')
  await alone.stop()
})
