import { expect } from '@std/expect'
import { causeOf } from '../../../package/command/remote/data_api.ts'

/** What Node.js throws if it cannot connect to any address of a host. */
const ofAddresses = Object.assign(
  new AggregateError([new Error('refused by 127.0.0.1:1'), new Error('refused by ::1:1')]),
  { code: 'ECONNREFUSED' },
)

const cases: [unknown, string][] = [
  [
    new TypeError('fetch failed', { cause: ofAddresses }),
    'refused by 127.0.0.1:1; refused by ::1:1',
  ],
  [new TypeError('fetch failed', { cause: new Error('no such host') }), 'no such host'],
  [new TypeError('fetch failed'), 'fetch failed'],
  [ofAddresses, 'refused by 127.0.0.1:1; refused by ::1:1'],
  [new DOMException('The signal timed out', 'TimeoutError'), 'no response in time'],
  ['refused', 'refused'],
]

Deno.test('causeOf() tells why a fetch has failed, also if the host has several addresses', () => {
  for (const [error, reason] of cases) expect(causeOf(error)).toBe(reason)
})
