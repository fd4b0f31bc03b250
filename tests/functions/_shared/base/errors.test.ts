import { expect } from '@std/expect'
import { asError, messageOf } from '../../../../functions/_shared/base/errors.ts'

const cases: [unknown, string][] = [
  [new Error('no route'), 'no route'],
  [
    { code: '25006', message: 'cannot execute INSERT in a read-only transaction' },
    'cannot execute INSERT in a read-only transaction',
  ],
  ['refused', 'refused'],
  [null, 'null'],
  [undefined, 'undefined'],
]

for (const [thrown, message] of cases) {
  Deno.test(`the message of ${Deno.inspect(thrown)} is "${message}", also as an error`, () => {
    expect(messageOf(thrown)).toBe(message)
    expect(asError(thrown).message).toBe(message)
  })
}
