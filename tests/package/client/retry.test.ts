/** Which requests the client repeats, and when. */

import { expect } from '@std/expect'
import { ApiError, ConnectionError } from '../../../package/client/errors.ts'
import type { Operation } from '../../../package/client/operation.ts'
import { retryAfterMs, retryDelay } from '../../../package/client/retry.ts'

const operations: Record<string, Operation> = {
  read: { method: 'GET', path: '/' },
  put: { method: 'PUT', path: '/' },
  keyed: { method: 'POST', path: '/', keyed: true },
  post: { method: 'POST', path: '/' },
  patch: { method: 'PATCH', path: '/' },
  delete: { method: 'DELETE', path: '/' },
}
const patience = { retries: 2, longestWaitMs: 30_000 }

/** The operations that are repeated after the error. */
function repeatedAfter(error: unknown): string[] {
  return Object.entries(operations)
    .filter(([, operation]) => retryDelay(operation, error, 1, patience, 0) !== null)
    .map(([name]) => name)
}

const api = (status: number, wait: number | null = null): ApiError =>
  new ApiError(status, null, wait)

Deno.test('only what may be done twice is repeated when the outcome is unknown', () => {
  const safe = ['read', 'put', 'keyed']
  for (const status of [408, 502, 503, 504, 546]) {
    expect([status, repeatedAfter(api(status))]).toEqual([status, safe])
  }
  for (const kind of ['network', 'timeout', 'response'] as const) {
    expect(repeatedAfter(new ConnectionError(kind, ''))).toEqual(safe)
  }
})

Deno.test('every request is repeated after 429, which did nothing', () => {
  expect(repeatedAfter(api(429))).toEqual(Object.keys(operations))
})

Deno.test('no request is repeated after a refusal or a defect', () => {
  for (const status of [400, 401, 403, 404, 409, 412, 422, 500, 501]) {
    expect([status, repeatedAfter(api(status))]).toEqual([status, []])
  }
  expect(repeatedAfter(new TypeError('a defect'))).toEqual([])
})

Deno.test('the delay doubles up to 8 s, half of it random, and ends with the retries', () => {
  const { read } = operations
  if (read === undefined) throw new Error('no operation')
  const delays = (random: number): (number | null)[] =>
    [1, 2, 3, 4, 5, 6, 7].map((failed) =>
      retryDelay(read, api(503), failed, { ...patience, retries: 6 }, random)
    )
  expect(delays(0)).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, null])
  expect(delays(1)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000, null])
})

Deno.test('the delay is at least what the API asks for; a longer one than allowed ends it', () => {
  const { read } = operations
  if (read === undefined) throw new Error('no operation')
  expect(retryDelay(read, api(429, 30_000), 1, patience, 0)).toBe(30_000)
  expect(retryDelay(read, api(429, 30_001), 1, patience, 0)).toBe(null)
  expect(retryDelay(read, api(429, 0), 1, patience, 0)).toBe(250)
})

Deno.test('retryAfterMs() reads seconds and dates', () => {
  const now = Date.UTC(2027, 0, 15, 8)
  const rows: [string | null, number | null][] = [
    [null, null],
    ['0', 0],
    ['12', 12_000],
    ['Fri, 15 Jan 2027 08:00:05 GMT', 5_000],
    ['Fri, 15 Jan 2027 07:00:00 GMT', 0],
    ['soon', null],
    ['', null],
  ]
  for (const [header, ms] of rows) expect([header, retryAfterMs(header, now)]).toEqual([header, ms])
})
