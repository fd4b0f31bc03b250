import { expect } from '@std/expect'
import { createAddressPolicy } from '../../../../functions/_shared/connect/address.ts'
import { checkTarget, targetOf } from '../../../../functions/_shared/connect/target.ts'
import { hostMatrix } from './matrix.ts'

const strict = createAddressPolicy({ allowHttp: false, allowCidrs: [] })

Deno.test('checkTarget() judges each form of a host, with a port and without', () => {
  expect(hostMatrix.length).toBeGreaterThan(100)
  for (const { form, host, verdict } of hostMatrix) {
    for (const url of [`https://${host}/hook`, `https://${host}:8443/`]) {
      expect([form, url, checkTarget(url, strict).ok]).toEqual([form, url, verdict === 'public'])
    }
  }
})

Deno.test('checkTarget() refuses what is no https URL without credentials', () => {
  const refused = [
    'not a url',
    '//example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://example.com/',
    'https://user:pass@example.com/',
    'https://user@example.com/',
    'https://example.com@10.0.0.1/',
    'https://10.0.0.1\\@example.com/',
    'https:10.0.0.1',
    'https:\\\\127.0.0.1\\',
    'https://127.0\n.0.1/',
  ]
  for (const url of refused) expect([url, checkTarget(url, strict).ok]).toEqual([url, false])
})

Deno.test('checkTarget() goes to the ports that the operator allows and does not deny', () => {
  const policy = createAddressPolicy({
    allowHttp: true,
    allowCidrs: [],
    allowPorts: ['80', '443', '1024-65535'],
    denyPorts: ['6379', '9200-9300'],
  })
  const rows: [string, boolean][] = [
    ['https://example.com/', true],
    ['http://example.com/', true],
    ['https://example.com:443/', true],
    ['https://example.com:1024/', true],
    ['https://example.com:65535/', true],
    ['https://example.com:0/', false],
    ['https://example.com:22/', false],
    ['https://example.com:25/', false],
    ['https://example.com:1023/', false],
    ['https://example.com:6379/', false],
    ['https://example.com:9250/', false],
  ]
  for (const [url, expected] of rows) {
    expect([url, checkTarget(url, policy).ok]).toEqual([url, expected])
  }
  const plain = createAddressPolicy({ allowHttp: true, allowCidrs: [], allowPorts: ['80'] })
  expect(checkTarget('http://example.com/', plain).ok).toBe(true)
  expect(checkTarget('https://example.com/', plain).ok).toBe(false)
  const unreadable = createAddressPolicy({ allowHttp: false, allowCidrs: [], allowPorts: ['all'] })
  expect(checkTarget('https://example.com/', unreadable).ok).toBe(false)
})

Deno.test('checkTarget() accepts public hosts and names, and http if it is allowed', () => {
  for (const url of ['https://example.com/a?b=c', 'https://8.8.8.8/', 'https://localhost/']) {
    expect([url, checkTarget(url, strict).ok]).toEqual([url, true])
  }
  const local = createAddressPolicy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] })
  expect(checkTarget('http://127.0.0.1:8080/', local).ok).toBe(true)
  expect(checkTarget('http://10.0.0.1:8080/', local).ok).toBe(false)
  expect(checkTarget('ftp://example.com/', local)).toEqual({
    ok: false,
    problem: 'The URL must start with https://',
  })
})

Deno.test('checkTarget() does not reveal the refused address', () => {
  const target = checkTarget('https://10.1.2.3/', strict)
  expect(target).toEqual({ ok: false, problem: expect.not.stringContaining('10.1.2.3') })
})

Deno.test('targetOf() returns the result of checkTarget(), cached for each policy', () => {
  const lax = createAddressPolicy({ allowHttp: true, allowCidrs: [] })
  for (
    const url of ['http://example.com/a', 'https://example.com/a', 'https://10.0.0.1/', 'no url']
  ) {
    for (const policy of [strict, lax]) {
      expect(targetOf(url, policy)).toEqual(checkTarget(url, policy))
      expect(targetOf(url, policy)).toBe(targetOf(url, policy))
    }
  }
})
