import { expect } from '@std/expect'
import { senders, sendersWith } from '../../../../functions/_shared/senders/registry.ts'
import type { Sender } from '../../../../functions/_shared/senders/sender.ts'

const own: Sender = { send: () => Promise.resolve({ outcome: 'delivered' }) }

Deno.test('sendersWith() adds kinds to those of this project', () => {
  const all = sendersWith(new Map([['pager', own]]))
  expect([...all.keys()]).toEqual([...senders.keys(), 'pager'])
  expect(all.get('pager')).toBe(own)
  expect(senders.has('pager')).toBe(false)
})

Deno.test('sendersWith() refuses a kind that has a sender already', () => {
  expect(() => sendersWith(new Map([['slack', own]])))
    .toThrow('The kind slack has a sender already: use another name for yours')
})
