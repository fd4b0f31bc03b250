import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { checkTarget } from '../../../../functions/_shared/connect/target.ts'

const strict = createAddressPolicy({ allowHttp: false, allowCidrs: [] })

Deno.test('checkTarget() refuses schemes, credentials and every literal form of a refused host', () => {
  const refused = [
    'not a url',
    'ftp://example.com/',
    'http://example.com/',
    'https://user:pass@example.com/',
    'https://user@example.com/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://127.0.0.1./',
    'https://%31%32%37.0.0.1/',
    'https://１２７.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[0:0:0:0:0:ffff:7f00:1]:8443/',
    'https://169.254.169.254/latest/meta-data',
    'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1]/',
  ]
  for (const url of refused) expect([url, checkTarget(url, strict).ok]).toEqual([url, false])
})

Deno.test('checkTarget() takes public hosts and names, and http where it is allowed', () => {
  for (const url of ['https://example.com/a?b=c', 'https://8.8.8.8/', 'https://localhost/']) {
    expect([url, checkTarget(url, strict).ok]).toEqual([url, true])
  }
  const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
  expect(checkTarget('http://127.0.0.1:8080/', local).ok).toBe(true)
  expect(checkTarget('http://10.0.0.1:8080/', local).ok).toBe(false)
})

Deno.test('checkTarget() tells nothing about the address it refuses', () => {
  const target = checkTarget('https://10.1.2.3/', strict)
  expect(target).toEqual({ ok: false, problem: expect.not.stringContaining('10.1.2.3') })
})
