import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import { headerText, readCarried } from '../../../consumer/into/event.ts'
import { recordOf } from '../../../functions/_shared/senders/broker/record.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent } from '../../functions/samples.ts'

function carriedFrom(
  headers: Record<string, unknown>,
  body: Buffer,
): ReturnType<typeof readCarried> {
  return readCarried((name) => headerText(headers[name]), body)
}

for (const payload of ['envelope', 'data'] as const) {
  Deno.test(`readCarried() reads back what an endpoint with the payload ${payload} sends`, () => {
    const body = '{"n": 1.10, "big": 1e400}'
    const event = sampleEvent({
      body,
      org_id: 'org-7',
      partition_key: 'ä 50% %41\n',
      idempotency_key: 'pay-1',
      traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01',
    })
    const record = recordOf(sampleDelivery(), sampleEndpoint({ payload }), event, 0)
    expect(carriedFrom(record.headers, record.value)).toEqual({
      id: record.id,
      type: event.type,
      org_id: 'org-7',
      body,
      partition_key: 'ä 50% %41\n',
      correlation_id: event.correlation_id,
      idempotency_key: 'pay-1',
      traceparent: '00-0123456789abcdef0123456789abcdef-0123456789abcdef-01',
    })
  })
}

Deno.test('readCarried() has no key for an event without one, and takes an envelope of another event as it is', () => {
  const headers = { 'webhook-id': 'e-1', 'x-event-type': 'a.b', 'x-outhook-org': Buffer.from('o') }
  const body = '{"id": "e-2", "eventType": "a.b", "data": {}}'
  expect(carriedFrom(headers, Buffer.from(body))).toEqual({
    id: 'e-1',
    type: 'a.b',
    org_id: 'o',
    body,
    partition_key: null,
    correlation_id: null,
    idempotency_key: null,
    traceparent: null,
  })
})

Deno.test('readCarried() says why a message is no event', () => {
  const whole = { 'webhook-id': 'e-1', 'x-event-type': 'a.b', 'x-outhook-org': 'o' }
  const rows: [headers: Record<string, unknown>, body: Buffer, problem: RegExp][] = [
    [{}, Buffer.from('{}'), /no header webhook-id:/],
    [{ ...whole, 'x-event-type': 7 }, Buffer.from('{}'), /no header x-event-type:/],
    [{ ...whole, 'x-outhook-org': null }, Buffer.from('{}'), /no header x-outhook-org:/],
    [whole, Buffer.from('{'), /^The message is not JSON$/],
    [whole, Buffer.from([0xff]), /^The message is not JSON$/],
    [whole, Buffer.from(''), /^The message is not JSON$/],
  ]
  for (const [headers, body, problem] of rows) {
    expect(carriedFrom(headers, body)).toMatch(problem)
  }
})
