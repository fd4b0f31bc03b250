import { Hono } from 'hono'
import { expect } from '@std/expect'
import type { ApiEnv } from '../../../functions/api/context.ts'
import {
  bodyLimit,
  headLimit,
  requestLimits,
  tokenBodies,
} from '../../../functions/api/middleware/limits.ts'
import { bytesOfRequest, createBodyRoom } from '../../../functions/_shared/http/body_room.ts'
import type { Principal } from '../../../functions/api/auth/principal.ts'
import { withPrincipal } from './_principal.ts'
import { handleError } from '../../../functions/api/middleware/problem.ts'

const { bodyBytes, batchBytes, headerBytes, urlCharacters, depth } = requestLimits

/** Sends one request through the limits alone; answers its status and the code of its problem. */
async function send(url: string, init: RequestInit = {}): Promise<string> {
  const app = new Hono<ApiEnv>()
  app.onError(handleError(() => {}))
  app.use(headLimit(requestLimits))
  app.use(withPrincipal())
  app.use(bodyLimit(requestLimits, createBodyRoom(tokenBodies)))
  app.all('*', (c) => c.json({}))
  const answer = await app.request(url, init)
  const { code } = await answer.json()
  return code === undefined ? `${answer.status}` : `${answer.status} ${code}`
}

const json = { 'content-type': 'application/json' }

/** A JSON string of so many bytes. */
const text = (bytes: number): string => `"${'a'.repeat(bytes - 2)}"`

/** The same, without a length said beforehand. */
const stream = (bytes: number): ReadableStream => new Blob([text(bytes)]).stream()

Deno.test('requestLimits has the limits that the documentation names', () => {
  expect(requestLimits).toEqual({
    batchBytes: 4_194_304,
    bodyBytes: 262_144,
    headerBytes: 16_384,
    urlCharacters: 4096,
    depth: 64,
    bodyMs: 10_000,
  })
})

const bodies = [
  ['/api/v1/endpoints', bodyBytes],
  ['/api/v1/event-types/events', bodyBytes],
  ['/api/v1/sagas/events', bodyBytes],
  ['/api/v1/events', batchBytes],
  ['/api/v1/events/batch', batchBytes],
] as const
for (const [path, bytes] of bodies) {
  Deno.test(`bodyLimit() takes a body of ${bytes} bytes at ${path}, and answers 413 to one byte more`, async () => {
    const post = (body: BodyInit): Promise<string> =>
      send(path, { method: 'POST', headers: json, body })
    expect(await post(text(bytes))).toBe('200')
    expect(await post(text(bytes + 1))).toBe('413 too_large')
    expect(await post(stream(bytes))).toBe('200')
    expect(await post(stream(bytes + 1))).toBe('413 too_large')
  })
}

Deno.test('bodyLimit() refuses a content-length over the limit, and accepts one at the limit', async () => {
  const post = (length: number): Promise<string> =>
    send('/endpoints', {
      method: 'POST',
      headers: { ...json, 'content-length': String(length) },
      body: stream(10),
    })
  expect(await post(bodyBytes)).toBe('200')
  expect(await post(bodyBytes + 1)).toBe('413 too_large')
})

Deno.test(`headLimit() takes ${headerBytes} bytes of headers, and answers 431 to one byte more`, async () => {
  const get = (bytes: number): Promise<string> =>
    send('/', { headers: { 'x-a': 'a'.repeat(bytes - 'x-a'.length) } })
  expect(await get(headerBytes)).toBe('200')
  expect(await get(headerBytes + 1)).toBe('431 headers_too_large')
})

Deno.test(`headLimit() takes a URL of ${urlCharacters} characters, and answers 400 to one more`, async () => {
  const url = (length: number): string => 'http://localhost/'.padEnd(length, 'a')
  expect(await send(url(urlCharacters))).toBe('200')
  expect(await send(url(urlCharacters + 1))).toBe('400 invalid_argument')
})

Deno.test(`bodyLimit() takes arrays ${depth} deep, and answers 400 to one more`, async () => {
  const post = (levels: number): Promise<string> =>
    send('/', { method: 'POST', headers: json, body: '['.repeat(levels) + ']'.repeat(levels) })
  expect(await post(depth)).toBe('200')
  expect(await post(depth + 1)).toBe('400 invalid_argument')
})

Deno.test('bodyLimit() answers 400 to exponents beyond 100,000 in all, except in events', async () => {
  const post = (path: string, body: string): Promise<string> =>
    send(path, { method: 'POST', headers: json, body })
  for (const path of ['/api/v1/sagas/events', '/api/v1/outbound/messages']) {
    expect(await post(path, '[1e50000,1e-50000]')).toBe('200')
    expect(await post(path, '[1e50000,1e-50001]')).toBe('400 invalid_argument')
  }
  expect(await post('/api/v1/events', '{"payload":1e100001}')).toBe('200')
})

/** Sends bodies of 4 MiB that never end for an organisation, then a small one; answers all of them. */
async function fill(count: number, more: Partial<Principal>): Promise<string[]> {
  const app = new Hono<ApiEnv>()
  app.onError(handleError(() => {}))
  app.use(withPrincipal(more))
  app.use(bodyLimit({ ...requestLimits, bodyMs: 200 }, createBodyRoom(tokenBodies)))
  app.all('*', (c) => c.json({}))
  const post = async (body: BodyInit): Promise<string> => {
    const answer = await app.request('/api/v1/events', { method: 'POST', headers: json, body })
    return `${answer.status} ${answer.headers.get('retry-after')}`
  }
  const slow = Array.from({ length: count }, () =>
    post(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(batchBytes)),
      }),
    ))
  // Until their first pieces are counted.
  await new Promise((resolve) => setTimeout(resolve, 0))
  return [await post('{}'), ...await Promise.all(slow)]
}

Deno.test('bodyLimit() gives up the oldest of the slow bodies of tokens that fill the memory', async () => {
  expect(await fill(3, {})).toEqual(['200 null', '429 1', '429 1', '408 null'])
})

Deno.test('bodyLimit() does not bound the bodies of requests with a secret key together', async () => {
  expect(await fill(3, { kind: 'key' })).toEqual(['200 null', '408 null', '408 null', '408 null'])
})

Deno.test('bodyLimit() counts a body until its request ends', async () => {
  const app = new Hono<ApiEnv>()
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
  const { promise: areRead, resolve: allRead } = Promise.withResolvers<void>()
  let count = 0
  app.onError(handleError(() => {}))
  app.use(withPrincipal())
  app.use(bodyLimit(requestLimits, createBodyRoom(tokenBodies)))
  app.all('/api/v1/events', async (c) => {
    if (++count === 2) allRead()
    await isReleased
    return c.json({})
  })
  const post = async (): Promise<number> =>
    (await app.request('/api/v1/events', {
      method: 'POST',
      headers: json,
      body: text(batchBytes - 2 * bytesOfRequest),
    })).status
  const handled = [post(), post()]
  await areRead
  expect(await post()).toBe(429)
  release()
  expect(await Promise.all(handled)).toEqual([200, 200])
  expect(await post()).toBe(200)
})
