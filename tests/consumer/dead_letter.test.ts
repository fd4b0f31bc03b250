import { expect } from '@std/expect'
import * as fc from 'fast-check'
import { Buffer } from 'node:buffer'
import { eventHeaders, readDeadLetter, writeDeadLetter } from '../../consumer/dead_letter.ts'
import { docsBlock } from '../project/_docs.ts'
import { sampleMessage } from './samples.ts'

const failedAt = new Date('2026-01-16T10:00:00Z')

function write(body: Buffer | string): Buffer {
  const message = sampleMessage({ body: Buffer.from(body) })
  return writeDeadLetter({ message, error: 'psp timeout after 30s', retryCount: 6 }, failedAt)
}

Deno.test('writeDeadLetter() has the members of the format, the message byte for byte', () => {
  const text = write('{"id":"e-1", "amount": 1.10, "big": 12345678901234567890}').toString()
  expect(text).toContain(
    '"original_message":{"id":"e-1", "amount": 1.10, "big": 12345678901234567890},',
  )
  expect(JSON.parse(text)).toEqual({
    original_topic: 'orders',
    original_message: JSON.parse('{"id":"e-1","amount":1.1,"big":12345678901234567890}'),
    error: 'psp timeout after 30s',
    retry_count: 6,
    failed_at: '2026-01-16T10:00:00.000Z',
    correlation_id: 'cart-7',
  })
})

Deno.test('the page on consumers shows a dead letter as it is', () => {
  const shown = JSON.parse(docsBlock('dead-letter'))
  const message = sampleMessage({ body: Buffer.from(JSON.stringify(shown.original_message)) })
  const { error, retry_count: retryCount, failed_at } = shown
  expect(
    JSON.parse(writeDeadLetter({ message, error, retryCount }, new Date(failed_at)).toString()),
  )
    .toEqual(shown)
})

Deno.test('writeDeadLetter() accepts a message that is not JSON', () => {
  expect(JSON.parse(write('not json').toString()))
    .toMatchObject({ original_message: 'not json', original_encoding: 'text' })
  expect(JSON.parse(write(Buffer.from([0xff, 0x00])).toString()))
    .toMatchObject({ original_message: '/wA=', original_encoding: 'base64' })
})

Deno.test('readDeadLetter() restores any message of writeDeadLetter()', () => {
  fc.assert(fc.property(
    fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
      fc.json().map((text) => Buffer.from(` ${text}\n`)),
      fc.constantFrom('', '""', '"a"', 'null', '{', '\u{feff}{}').map((text) => Buffer.from(text)),
    ),
    (body) => {
      const original = readDeadLetter(write(body))
      expect(original?.topic).toBe('orders')
      const isJson = JSON.parse(write(body).toString()).original_encoding === undefined
      // Blanks around a JSON value are not the message's own.
      expect(original?.body.toString('base64'))
        .toBe((isJson ? Buffer.from(body.toString().trim()) : body).toString('base64'))
    },
  ))
})

Deno.test('readDeadLetter() reads the dead letters of our own endpoints', () => {
  const letter =
    '{"original_topic":"orders","original_message":{"id":"e-1","n":1.10},"error":"x",' +
    '"retry_count":6,"failed_at":"2026-01-16T10:00:00.000Z","correlation_id":"cart-7",' +
    '"original_exchange":"shop","original_key":"k","idempotency_key":"pay-123","event_id":"e-1",' +
    '"event_type":"order.paid",' +
    '"endpoint_id":"p-1"}'
  expect(readDeadLetter(Buffer.from(letter))).toEqual({
    topic: 'orders',
    body: Buffer.from('{"id":"e-1","n":1.10}'),
    event: {
      id: 'e-1',
      endpointId: 'p-1',
      type: 'order.paid',
      correlationId: 'cart-7',
      idempotencyKey: 'pay-123',
      exchange: 'shop',
      key: 'k',
    },
  })
})

Deno.test("eventHeaders() has the publisher's idempotency key, or the id of the event, as a delivery has", () => {
  const event = {
    id: 'e-1',
    endpointId: 'p-1',
    type: 'order.paid',
    correlationId: 'Köln',
    idempotencyKey: 'pay-123',
    exchange: null,
    key: null,
  }
  expect(eventHeaders(event)).toEqual({
    'webhook-id': 'e-1',
    'idempotency-key': 'pay-123',
    'x-event-type': 'order.paid',
    'x-correlation-id': 'K%C3%B6ln',
  })
  expect(eventHeaders({ ...event, idempotencyKey: null })['idempotency-key']).toBe('e-1')
})

Deno.test('readDeadLetter() returns null if it is not a dead letter', () => {
  for (
    const text of [
      '',
      'x',
      '[]',
      '{}',
      '{"original_topic":""}',
      '{"original_topic":"a"}',
      '{"original_topic":"a","original_message":1,"original_encoding":"text"}',
      '{"original_topic":"a","original_message":1,"original_message":2}',
    ]
  ) expect([text, readDeadLetter(Buffer.from(text))]).toEqual([text, null])
})
