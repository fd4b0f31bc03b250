import { expect } from '@std/expect'
import {
  expand,
  expandForLetter,
} from '../../../../../functions/_shared/senders/broker/template.ts'
import { sampleEvent } from '../../../samples.ts'

Deno.test('expand() puts type, organisation and key in, and nothing into those', () => {
  const event = sampleEvent({ partition_key: 'k{type}$&' })
  expect(expand('a.{type}.{org}.{key}.{key}', event))
    .toBe('a.order.paid.org-1.k{type}$&.k{type}$&')
  expect(expand('{key}', sampleEvent())).toBe('')
  expect(expand('plain', event)).toBe('plain')
})

Deno.test('expandForLetter() goes by where the letter was going', () => {
  const letter = sampleEvent({
    type: 'outhook.dead_letter',
    body: '{"original_topic": "shop.order.paid", "event_type": "order.paid"}',
  })
  expect(expandForLetter('{topic}.dlq', letter)).toBe('shop.order.paid.dlq')
  expect(expandForLetter('{type}.{org}.{routing_key}', letter))
    .toBe('order.paid.org-1.shop.order.paid')
  expect(expandForLetter('dead', { ...letter, body: '{}' })).toBeNull()
  // No key chooses where a dead letter goes.
  expect(expandForLetter('{key}dead', { ...letter, partition_key: '{topic}' })).toBe('dead')
})
