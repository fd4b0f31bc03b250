import { expect } from '@std/expect'
import { recordOf } from '../../../../../functions/_shared/senders/broker/record.ts'
import { sampleDelivery, sampleEndpoint, sampleEvent } from '../../../samples.ts'

const now = 1_614_265_330_999

Deno.test('recordOf() has the headers of a webhook but for the signatures, and the body that its endpoint chose', () => {
  const record = recordOf(
    sampleDelivery({ failed_attempts: 2 }),
    sampleEndpoint({ payload: 'data', headers: { 'x-tenant': 'seven' } }),
    sampleEvent({ body: '{"n": 1.10}', org_id: 'org-7', partition_key: 'ä 1' }),
    now,
  )
  expect(record).toMatchObject({
    id: '0198c0de-0000-7000-8000-000000000001',
    timestamp: 1_614_265_330,
    isDeadLetter: false,
  })
  expect(record.value.toString()).toBe('{"n": 1.10}')
  expect(record.headers).toMatchObject({
    'webhook-id': '0198c0de-0000-7000-8000-000000000001',
    'webhook-timestamp': '1614265330',
    'x-attempt': '3',
    'x-event-type': 'order.paid',
    'x-outhook-org': 'org-7',
    'x-outhook-partition-key': '%C3%A4%201',
    'x-tenant': 'seven',
  })
  expect(Object.keys(record.headers).filter((name) => name.includes('signature'))).toEqual([])
})

Deno.test('recordOf() has the envelope if configured, and a dead letter unchanged', () => {
  const endpoint = sampleEndpoint({ payload: 'envelope' })
  const event = sampleEvent({ body: '{"n": 1}' })
  const record = recordOf(sampleDelivery(), endpoint, event, now)
  expect(JSON.parse(record.value.toString())).toMatchObject({
    eventType: 'order.paid',
    data: { n: 1 },
  })
  const letter = { ...event, type: 'outhook.dead_letter' }
  const dead = recordOf(sampleDelivery(), endpoint, letter, now)
  expect([dead.isDeadLetter, dead.value.toString()]).toEqual([true, '{"n": 1}'])
})
