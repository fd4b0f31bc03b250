/** The server of `outhook console`: sessions, who may call it, and what reaches the API. */

import { expect } from '@std/expect'
import { type RunningConsole, serveConsole } from '../../package/command/console/serve.ts'
import { startUpstream, type Upstream } from '../console/_support/upstream.ts'
import { open, statusOf } from './_support/console_link.ts'

const secretKey = 'sb_secret_of_the_test'
const page = { bytes: new TextEncoder().encode('<p>page'), type: 'text/html; charset=utf-8' }
let upstream: Upstream

Deno.test.beforeAll(() => {
  upstream = startUpstream()
})
Deno.test.afterAll(() => upstream.stop())

function serve(): Promise<RunningConsole> {
  const api = { url: upstream.url, secretKey }
  return serveConsole({ files: new Map([['/', page]]), upstream: api, port: 0 })
}

Deno.test('two consoles at once, in one browser, do not end the session of each other', async () => {
  const [left, right] = [await serve(), await serve()]
  try {
    // A browser sends the cookies of all ports of a host to each of them.
    const cookie = `${await open(left.newLink())}; ${await open(right.newLink())}`
    for (const { url } of [left, right, left]) {
      expect(await statusOf(`${url}/api/v1/events`, { headers: { cookie } })).toBe(200)
      expect(await statusOf(`${url}/session`, { headers: { cookie } })).toBe(200)
    }
    const [first = ''] = cookie.split('; ')
    expect(await statusOf(`${right.url}/api/v1/events`, { headers: { cookie: first } })).toBe(401)
  } finally {
    await left.stop()
    await right.stop()
  }
})

Deno.test('the server passes a request with its body to the API, and nothing without a session', async () => {
  const running = await serve()
  try {
    const before = upstream.requests.length
    const request = { method: 'POST', body: '{"type":"a"}' }
    const origin = running.url
    expect(await statusOf(`${origin}/api/v1/events`, { ...request, headers: { origin } })).toBe(401)
    expect(upstream.requests.length).toBe(before)
    const link = running.newLink()
    const cookie = await open(link)
    const headers = { cookie, origin, 'content-type': 'application/json' }
    expect(await statusOf(`${origin}/api/v1/events?a=1`, { ...request, headers })).toBe(200)
    expect(upstream.requests.at(-1)).toMatchObject({ method: 'POST', body: request.body })
    expect(upstream.requests.at(-1)?.headers.get('apikey')).toBe(secretKey)
    expect(upstream.requests.at(-1)?.headers.get('cookie')).toBe(null)

    // The link works once, and other sites may not call the console.
    const again = { method: 'POST', headers: { origin }, body: new URL(link).hash.slice(7) }
    expect(await statusOf(`${origin}/session`, again)).toBe(401)
    const foreign = { ...request, headers: { cookie, origin: 'https://example.com' } }
    expect(await statusOf(`${origin}/api/v1/events`, foreign)).toBe(403)
    const large = { method: 'POST', headers, body: 'x'.repeat(5 * 1024 * 1024) }
    expect(await statusOf(`${origin}/api/v1/events`, large)).toBe(413)
    expect(await statusOf(`${origin}/events`, { headers })).toBe(200)
  } finally {
    await running.stop()
  }
})

Deno.test('a body that goes on after its refusal, and one that ends in the middle, leave the server running', async () => {
  const running = await serve()
  try {
    const { host, port } = new URL(running.url)
    const head = `POST /api/v1/events HTTP/1.1\r\nhost: ${host}\r\norigin: ${running.url}\r\n`
    const large = new TextEncoder().encode('x'.repeat(64 * 1024))
    const connect = (): Promise<Deno.TcpConn> =>
      Deno.connect({ hostname: '127.0.0.1', port: Number(port) })
    for (const ends of ['whole', 'cut'] as const) {
      const connection = await connect()
      const reader = connection.readable.getReader()
      const writer = connection.writable.getWriter()
      await writer.write(
        new TextEncoder().encode(`${head}content-length: ${4 * large.length}\r\n\r\n`),
      )
      await writer.write(large)
      const { value } = await reader.read()
      expect(new TextDecoder().decode(value)).toMatch(/^HTTP\/1\.1 401 /)
      for (let part = 1; part < (ends === 'whole' ? 4 : 2); part++) await writer.write(large)
      await Promise.allSettled([writer.close(), reader.cancel()])
    }
    expect(await statusOf(`${running.url}/session`)).toBe(401)
  } finally {
    await running.stop()
  }
})

Deno.test('a body that is too large is refused, however much of it is still to come', async () => {
  const running = await serve()
  try {
    const cookie = await open(running.newLink())
    const headers = { cookie, origin: running.url }
    for (let more = 1; more <= 1_000_000; more *= 4) {
      const body = new Uint8Array(4 * 1024 * 1024 + more)
      expect(await statusOf(`${running.url}/api/v1/events`, { method: 'POST', headers, body }))
        .toBe(413)
    }
  } finally {
    await running.stop()
  }
})

Deno.test('a request for another host is refused', async () => {
  const running = await serve()
  try {
    const { port } = new URL(running.url)
    const connection = await Deno.connect({ hostname: '127.0.0.1', port: Number(port) })
    await connection.write(new TextEncoder().encode(
      'GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
    ))
    expect((await new Response(connection.readable).text()).split(' ')[1]).toBe('421')
  } finally {
    await running.stop()
  }
})
