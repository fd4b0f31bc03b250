import { Hono } from 'hono'
import { expect } from '@std/expect'
import type { ApiEnv } from '../../../functions/api/context.ts'
import { bodyLimit, headLimit, requestLimits } from '../../../functions/api/middleware/limits.ts'
import { handleError } from '../../../functions/api/middleware/problem.ts'

const { bodyBytes, batchBytes, headerBytes, urlCharacters, depth } = requestLimits

/** Sends one request through the limits alone; answers its status and the code of its problem. */
async function send(url: string, init: RequestInit = {}): Promise<string> {
  const app = new Hono<ApiEnv>()
  app.onError(handleError(() => {}))
  app.use(headLimit(requestLimits))
  app.use(bodyLimit(requestLimits))
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

for (const [path, bytes] of [['/endpoints', bodyBytes], ['/events', batchBytes]] as const) {
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
