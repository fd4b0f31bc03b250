import { expect } from '@std/expect'
import {
  makeUpdate,
  makeWhole,
  type Place,
} from '../../../../../functions/_shared/messages/callbacks/update.ts'

const place: Place = {
  field: 'messages',
  wabaId: '1',
  phoneNumberId: '2',
  display: null,
  time: null,
}

Deno.test('makeUpdate() and makeWhole() give updates of two kinds two keys, whatever they share', () => {
  const identity = ['2', 'wamid.A', 'read']
  const status = makeUpdate('status', place, {}, identity)
  expect(makeUpdate('message', place, {}, identity).key).not.toBe(status.key)
  expect(makeUpdate('status', place, { more: 1 }, identity).key).toBe(status.key)
  expect(makeWhole('account', place, { event: 'x' }).key)
    .not.toBe(makeWhole('quality', place, { event: 'x' }).key)
})
