import { expect } from '@std/expect'
import { bodyOf } from '../../../../functions/_shared/senders/body.ts'
import { sampleEndpoint, sampleEvent } from '../../samples.ts'

/** A uuid v7 of 2026-03-01T12:00:00.123Z. */
const id = '019ca945-0a7b-7abc-8000-000000000001'

Deno.test('bodyOf() is the envelope of the design, to the byte, around the stored text', () => {
  const event = sampleEvent({ correlation_id: 'cart-7', body: '{ "n":1.10,\n"z":"Zoë" }' })
  expect(bodyOf(sampleEndpoint(), id, event)).toBe(
    `{"id":"${id}","eventType":"order.paid","createdAt":"2026-03-01T12:00:00.123Z",` +
      '"correlationId":"cart-7","data":{ "n":1.10,\n"z":"Zoë" }}',
  )
})

Deno.test('bodyOf() is JSON, whatever the fields hold', () => {
  const event = sampleEvent({ correlation_id: 'req-"9\\"', body: '[1, 2]' })
  expect(JSON.parse(bodyOf(sampleEndpoint(), id, event))).toEqual({
    id,
    eventType: 'order.paid',
    createdAt: '2026-03-01T12:00:00.123Z',
    correlationId: 'req-"9\\"',
    data: [1, 2],
  })
})

Deno.test('bodyOf() is only the stored text if the endpoint is configured so', () => {
  const event = sampleEvent({ body: '{"amount": 1.10}' })
  expect(bodyOf(sampleEndpoint({ payload: 'data' }), id, event)).toBe('{"amount": 1.10}')
})
