import { Buffer } from 'node:buffer'
import { expect } from '@std/expect'
import { HttpError } from '../../../../functions/_shared/http1/error.ts'
import { postBytes } from '../../../../functions/_shared/http1/request.ts'

const url = new URL('https://receiver.test:8443/a%20b?c=ü#d')

Deno.test('postBytes() returns the whole request, and a long body separately', () => {
  const [whole, ...none] = postBytes({
    url,
    headers: ['x-a', '1', 'X-B', ''],
    body: Buffer.from('{"ü":1}'),
  })
  expect(none).toEqual([])
  expect(whole?.toString()).toBe(
    'POST /a%20b?c=%C3%BC HTTP/1.1\r\nhost: receiver.test:8443\r\nconnection: keep-alive\r\n' +
      'accept-encoding: identity\r\nx-a: 1\r\nX-B: \r\ncontent-length: 8\r\n\r\n{"ü":1}',
  )
  const body = Buffer.alloc(100_000, 'x')
  const [head, rest] = postBytes({ url, headers: [], body })
  expect(head?.toString().endsWith('content-length: 100000\r\n\r\n')).toBe(true)
  expect(rest).toBe(body)
})

Deno.test('postBytes() returns a GET without a length', () => {
  const [whole, ...none] = postBytes({
    method: 'GET',
    url,
    headers: ['x-a', '1'],
    body: Buffer.alloc(0),
  })
  expect(none).toEqual([])
  expect(whole?.toString()).toBe(
    'GET /a%20b?c=%C3%BC HTTP/1.1\r\nhost: receiver.test:8443\r\nconnection: keep-alive\r\n' +
      'accept-encoding: identity\r\nx-a: 1\r\n\r\n',
  )
})

Deno.test('postBytes() refuses every header that could be read as another', () => {
  const rows: [name: string, value: string][] = [
    ['x-a', 'b\r\nx-c: d'],
    ['x-a', 'b\nc'],
    ['x-a', 'b\rc'],
    ['x-a', 'b\0'],
    ['x-a', 'ü'],
    ['x-a', '\u{10a}'],
    ['x a', 'b'],
    ['x-a:', 'b'],
    ['x-a\r\n', 'b'],
    ['', 'b'],
  ]
  for (const headers of rows) {
    expect(() => postBytes({ url, headers, body: Buffer.from('') })).toThrow(HttpError)
  }
})
