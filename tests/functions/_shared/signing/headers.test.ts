import { expect } from '@std/expect'
import {
  customHeaderProblem,
  headerValue,
  webhookHeaders,
} from '../../../../functions/_shared/signing/headers.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent } from '../../samples.ts'

const signatures = { standard: 'v1,abc', simple: 'sha256=00' }

Deno.test('webhookHeaders() returns every header of the wire format', () => {
  const headers = asRecord(webhookHeaders({
    delivery: sampleDelivery({ failed_attempts: 2, attempt: 7 }),
    event: sampleEvent({ traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }),
    endpoint: sampleEndpoint({ headers: { Authorization: 'Bearer abc' } }),
    timestamp: 1614265330,
    signatures,
  }))
  expect(headers).toEqual({
    Authorization: 'Bearer abc',
    'content-type': 'application/json',
    'user-agent': expect.stringMatching(/^Outhook\/\d+\.\d+\.\d+$/),
    'webhook-id': '0198c0de-0000-7000-8000-000000000001',
    'idempotency-key': '0198c0de-0000-7000-8000-000000000001',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,abc',
    'x-timestamp': '1614265330',
    'x-signature': 'sha256=00',
    'x-event-type': 'order.paid',
    'x-correlation-id': 'cart-7',
    'x-attempt': '3',
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  })
})

Deno.test('webhookHeaders() leaves traceparent out when the event has none', () => {
  const headers = asRecord(webhookHeaders({
    delivery: sampleDelivery(),
    event: sampleEvent(),
    endpoint: sampleEndpoint(),
    timestamp: 1,
    signatures,
  }))
  expect(Object.keys(headers)).not.toContain('traceparent')
})

Deno.test('webhookHeaders() names the key of the publisher, where there is one', () => {
  const headers = asRecord(webhookHeaders({
    delivery: sampleDelivery(),
    event: sampleEvent({ idempotency_key: 'order 7' }),
    endpoint: sampleEndpoint(),
    timestamp: 1,
    signatures,
  }))
  expect(headers['idempotency-key']).toBe('order%207')
  expect(headers['webhook-id']).toBe('0198c0de-0000-7000-8000-000000000001')
})

Deno.test('headerValue() leaves only visible ASCII, the same way each time', () => {
  const rows: [string, string][] = [
    ['order-1', 'order-1'],
    ['a b', 'a%20b'],
    ['a\r\nx-evil: 1', 'a%0D%0Ax-evil:%201'],
    ['Zürich', 'Z%C3%BCrich'],
    ['🚲', '%F0%9F%9A%B2'],
    ['half \ud83d', 'half%20%EF%BF%BD'],
  ]
  for (const [text, expected] of rows) expect(headerValue(text)).toBe(expected)
})

Deno.test('customHeaderProblem() refuses reserved names and values that are not safe', () => {
  const refused: [string, string][] = [
    ['Host', 'a'],
    ['content-LENGTH', '1'],
    ['Transfer-Encoding', 'chunked'],
    ['webhook-anything', 'a'],
    ['x-signature', 'a'],
    ['traceparent', 'a'],
    ['proxy-authorization', 'a'],
    ['x y', 'a'],
    ['', 'a'],
    ['x-key', ''],
    ['x-key', 'a\r\nb: c'],
    ['x-key', ' a'],
    ['x-key', 'ü'],
  ]
  for (const [name, value] of refused) expect(customHeaderProblem(name, value)).not.toBe(null)
  expect(customHeaderProblem('Authorization', 'Bearer abc def')).toBe(null)
  expect(customHeaderProblem('x'.repeat(100), 'a')).toBe(null)
  expect(customHeaderProblem('x'.repeat(101), 'a')).toBe(
    'A header name has more than 100 characters',
  )
  expect(customHeaderProblem('x-api-key', 's3cret\r\n')).not.toContain('s3cret')
})

function asRecord(list: string[]): Record<string, string> {
  const record: Record<string, string> = {}
  for (let i = 0; i < list.length; i += 2) record[list[i] ?? ''] = list[i + 1] ?? ''
  return record
}
