import { expect } from '@std/expect'
import { tlsProblem } from '../../../../functions/_shared/connect/tls_problem.ts'

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

Deno.test('tlsProblem() names the problem from the codes of Deno 2.9 and the texts of Deno 2.1', () => {
  const rows: [Error, RegExp][] = [
    [coded('CERT_HAS_EXPIRED', 'certificate has expired'), /has expired: renew/],
    [new Error('invalid peer certificate: Expired'), /has expired: renew/],
    [new Error('invalid peer certificate: NotValidYet'), /not valid yet/],
    [
      coded('ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames"),
      /another host name/,
    ],
    [new Error('invalid peer certificate: NotValidForName'), /another host name/],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), /self-signed/],
    [coded('SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate'), /self-signed/],
    [
      coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'unable to verify the first certificate'),
      /not trusted/,
    ],
    [new Error('invalid peer certificate: UnknownIssuer'), /not trusted/],
    [new Error('invalid peer certificate: BadSignature'), /not trusted/],
    [
      coded(
        'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
        'peer is incompatible: ServerDoesNotSupportTls12Or13',
      ),
      /old version of TLS/,
    ],
    [new Error('received fatal alert: ProtocolVersion'), /old version of TLS/],
    [new Error('received fatal alert: HandshakeFailure'), /no common cipher/],
  ]
  for (const [error, sentence] of rows) {
    expect([error.message, tlsProblem(error)]).toEqual([
      error.message,
      expect.stringMatching(sentence),
    ])
  }
  expect(tlsProblem(new Error('something new'))).toBe(null)
})
