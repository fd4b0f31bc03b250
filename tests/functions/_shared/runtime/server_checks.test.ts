import { checkServerIdentity } from 'node:tls'
import { expect } from '@std/expect'
import { serverChecks } from '../../../../functions/_shared/runtime/server_checks.ts'

type Certificate = Parameters<typeof checkServerIdentity>[1]

/** A certificate as node:tls passes it, as far as the names are concerned. */
function certificate(commonName: string, subjectaltname?: string): Certificate {
  const names = { subject: { CN: commonName }, subjectaltname }
  // SAFETY: the check reads these members only.
  return names as unknown as Certificate
}

Deno.test('a certificate is valid for the names in its extension, and not for its common name', () => {
  const { checkServerIdentity } = serverChecks
  const codeOf = (hostname: string, cert: Certificate): unknown => {
    const error = checkServerIdentity(hostname, cert)
    return error === undefined ? null : 'code' in error ? error.code : error.message
  }
  const refused = 'ERR_TLS_CERT_ALTNAME_INVALID'
  expect(codeOf('a.test', certificate('x', 'DNS:a.test'))).toBe(null)
  expect(codeOf('b.a.test', certificate('x', 'DNS:*.a.test'))).toBe(null)
  expect(codeOf('127.0.0.1', certificate('x', 'IP Address:127.0.0.1'))).toBe(null)
  expect(codeOf('a.test', certificate('a.test', 'DNS:b.test'))).toBe(refused)
  expect(codeOf('a.test', certificate('a.test'))).toBe(refused)
  expect(codeOf('a.test', certificate('a.test', 'email:DNS:a.test'))).toBe(refused)
  expect(codeOf('127.0.0.1', certificate('127.0.0.1'))).toBe(refused)
})
