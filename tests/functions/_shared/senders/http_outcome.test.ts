import { expect } from '@std/expect'
import { outcomeOf } from '../../../../functions/_shared/senders/http_outcome.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

for (const status of [200, 302, 500]) {
  Deno.test(`outcomeOf() marks a response of ${status} that was cut, and no other`, () => {
    const exchange = { kind: 'response', status, retryAfter: null, body: bytes('start') } as const
    expect(outcomeOf({ ...exchange, cut: true })).toMatchObject({ response: 'start', cut: true })
    expect(outcomeOf({ ...exchange, cut: false })).not.toHaveProperty('cut')
  })
}
