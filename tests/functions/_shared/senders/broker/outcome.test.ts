import { expect } from '@std/expect'
import { unreachable } from '../../../../../functions/_shared/senders/broker/outcome.ts'

const refused = (code = 'ECONNREFUSED'): Error => Object.assign(new Error(), { code })

Deno.test('unreachable() has a text also for an error without one, such as that of several addresses', () => {
  const texts = [
    refused(),
    Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
    new AggregateError([refused('ECONNRESET'), refused()]),
    new AggregateError([]),
    new Error(),
  ].map((error) => unreachable(error).error)
  expect(new Set(texts)).toEqual(
    new Set(['The broker refuses the connection or cannot be reached']),
  )
})
