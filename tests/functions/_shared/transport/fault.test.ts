import { expect } from '@std/expect'
import { closedEarly, HttpError, malformed } from '../../../../functions/_shared/http1/error.ts'
import { faultOf } from '../../../../functions/_shared/transport/fault.ts'

function coded(code: string, message = 'x'): Error {
  return Object.assign(new Error(message), { code })
}

Deno.test('faultOf() sorts errors by code, by words, and by cause', () => {
  const rows: [unknown, string][] = [
    [coded('OUTHOOK_BLOCKED'), 'blocked'],
    [coded('ENOTFOUND'), 'dns'],
    [coded('EAI_AGAIN'), 'dns'],
    [coded('ECONNREFUSED'), 'connect'],
    [coded('EHOSTUNREACH'), 'connect'],
    [coded('ETIMEDOUT'), 'timeout'],
    [coded('ECONNRESET'), 'reset'],
    [new Error('connection closed before message completed'), 'reset'],
    [new HttpError('OUTHOOK_HEAD', 'x'), 'too_large'],
    [malformed('x'), 'protocol'],
    [closedEarly(), 'reset'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
    [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
    [new Error('invalid peer certificate: UnknownIssuer'), 'tls'],
    [new Error('received fatal alert: HandshakeFailure'), 'tls'],
    [new TypeError('fetch failed', { cause: coded('ECONNREFUSED') }), 'connect'],
    [new AggregateError([coded('EHOSTUNREACH'), coded('ECONNREFUSED')]), 'connect'],
    [new Error('something new'), 'protocol'],
    ['not an error', 'protocol'],
  ]
  for (const [error, errorClass] of rows) {
    expect([String(error), faultOf(error).errorClass]).toEqual([String(error), errorClass])
  }
})

Deno.test('faultOf() omits the error’s own message', () => {
  const error = coded('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.7:443')
  expect(faultOf(error).message).not.toContain('10.0.0.7')
})
