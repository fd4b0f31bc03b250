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

/** What node's net throws if it cannot connect to any of the addresses of a name. */
function ofAddresses(...texts: string[]): Error {
  return coded('ECONNREFUSED', new AggregateError(texts.map((text) => new Error(text))))
}

function coded(code: string, error = new Error()): Error {
  return Object.assign(error, { code })
}

const withoutText: [Error, string][] = [
  [ofAddresses('refused by 127.0.0.1', 'refused by ::1'), 'refused by 127.0.0.1; refused by ::1'],
  [ofAddresses('too late', 'too late'), 'too late'],
  [ofAddresses(), 'ECONNREFUSED'],
  [new AggregateError([coded('EHOSTUNREACH')]), 'EHOSTUNREACH'],
  [coded('ETIMEDOUT'), 'ETIMEDOUT'],
  [new TypeError('', { cause: ofAddresses('refused') }), 'refused'],
  [new TypeError('', { cause: new Error('no such host') }), 'no such host'],
  [new TypeError('', { cause: coded('ENOTFOUND', new Error('no such host')) }), 'no such host'],
  [new TypeError('', { cause: { code: 'EPIPE' } }), 'EPIPE'],
  [new TypeError('', { cause: new Error('', { cause: new Error('no route') }) }), 'no route'],
  [new TypeError(), 'TypeError'],
  [coded('', new Error(' ')), 'Error'],
  [coded('ECONNREFUSED', new Error('Connection error: ')), 'Connection error: ECONNREFUSED'],
  [new Error('Connection error:', { cause: coded('EPIPE') }), 'Connection error: EPIPE'],
  [new Error('Connection error:', { cause: new Error('expired') }), 'Connection error: expired'],
]

Deno.test('messageOf() tells the errors of the addresses, the code, the cause or the name of an error without a text', () => {
  for (const [error, message] of withoutText) expect(messageOf(error)).toBe(message)
})

Deno.test('messageOf() leaves a text that says something as it is', () => {
  for (const text of ['of: ECONNREFUSED', 'a\n', '.']) {
    expect(messageOf(coded('EPIPE', new Error(text)))).toBe(text)
  }
})

Deno.test('messageOf() ends where the causes of an error are a circle', () => {
  const error = new Error()
  error.cause = error
  expect(messageOf(error)).toBe('Error')
})
