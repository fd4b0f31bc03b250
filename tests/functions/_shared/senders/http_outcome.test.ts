import { expect } from '@std/expect'
import { NoRoom } from '../../../../functions/_shared/senders/no_room.ts'
import { outcomeOf } from '../../../../functions/_shared/senders/http_outcome.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

for (const status of [200, 302, 500]) {
  Deno.test(`outcomeOf() marks a response of ${status} that was cut, and no other`, () => {
    const exchange = { kind: 'response', status, retryAfter: null, body: bytes('start') } as const
    expect(outcomeOf({ ...exchange, cut: true })).toMatchObject({ response: 'start', cut: true })
    expect(outcomeOf({ ...exchange, cut: false })).not.toHaveProperty('cut')
  })
}

Deno.test('outcomeOf() marks a request that was sent twice, and no other', () => {
  const read = { status: 200, retryAfter: null, body: bytes('ok'), cut: false }
  const response = { kind: 'response', ...read } as const
  const fault = { kind: 'fault', errorClass: 'reset', message: 'closed' } as const
  for (const exchange of [response, fault]) {
    expect(outcomeOf({ ...exchange, resent: true })).toMatchObject({ resent: true })
    expect(outcomeOf(exchange)).not.toHaveProperty('resent')
  }
})

Deno.test('outcomeOf() makes no outcome of a request that the process had no room for', () => {
  const full = { kind: 'fault', errorClass: 'dns', message: 'It is so', isOurs: true } as const
  expect(() => outcomeOf(full)).toThrow(NoRoom)
  // Then it was sent once.
  expect(outcomeOf({ ...full, resent: true })).toMatchObject({ error_class: 'dns' })
})
