import { expect } from '@std/expect'
import {
  type AddressRules,
  createAddressPolicy,
  createPolicySource,
} from '../../../../functions/_shared/connect/address.ts'

const strict = createAddressPolicy({ allowHttp: false, allowCidrs: [] })

const refused = {
  unspecified: ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  linkLocal: ['169.254.0.1', 'fe80::1', 'febf::1'],
  metadata: ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '192.0.0.192', '168.63.129.16'],
  carrierGradeNat: ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.250', 'ff02::1'],
  broadcast: ['255.255.255.255'],
  reserved: ['192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '240.0.0.1'],
  relay: ['192.88.99.1'],
  uniqueLocal: ['fc00::1', 'fdff::1'],
  siteLocal: ['fec0::1'],
  mapped: ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1'],
  compatible: ['::127.0.0.1', '::8.8.8.8'],
  translated: ['::ffff:0:8.8.8.8'],
  nat64: ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1'],
  sixToFour: ['2002:7f00:1::', '2002:808:808::1'],
  teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  isatap: ['2001:4860::5efe:127.0.0.1', '2001:4860::200:5efe:8.8.8.8'],
  documentation: ['2001:db8::1', '3fff::1'],
  special: ['100::1', '2001:2::1', '2001:10::1', '2001:20::1', '5f00::1'],
  notGivenOut: ['4000::1', '8000::1'],
  notAnAddress: ['', 'localhost', '1.2.3', 'fe80::1%eth0', '2606:4700:4700::1111%eth0'],
}

Deno.test('allows() refuses every address that is not public', () => {
  for (const [range, addresses] of Object.entries(refused)) {
    for (const address of addresses) {
      expect([range, address, strict.allows(address)]).toEqual([range, address, false])
    }
  }
})

Deno.test('allows() accepts public addresses', () => {
  for (
    const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111']
  ) {
    expect([address, strict.allows(address)]).toEqual([address, true])
  }
})

Deno.test('allows() accepts the operator’s networks, and no others', () => {
  const allowCidrs = ['10.1.0.0/16', 'fd00:1::/32', 'nonsense']
  const policy = createAddressPolicy({ allowHttp: false, allowCidrs })
  const rows: [string, boolean][] = [
    ['10.1.2.3', true],
    ['10.2.0.1', false],
    ['fd00:1::7', true],
    ['fd00:2::7', false],
    ['::ffff:10.1.2.3', false],
    ['8.8.8.8', true],
  ]
  for (const [address, expected] of rows) {
    expect([address, policy.allows(address)]).toEqual([address, expected])
  }
})

Deno.test('createPolicySource() returns a new policy when a rule changes', () => {
  const rules: AddressRules = {
    allowHttp: true,
    allowCidrs: ['10.0.0.0/8'],
    allowPorts: ['443'],
    denyPorts: ['22'],
    proxyUrl: '',
  }
  const others: Partial<AddressRules>[] = [
    { allowHttp: false },
    { allowCidrs: [] },
    { allowPorts: ['443', '80'] },
    { denyPorts: [] },
    { proxyUrl: 'http://proxy.test:3128' },
  ]
  for (const other of others) {
    const policyOf = createPolicySource()
    const first = policyOf(rules)
    expect(policyOf({ ...rules })).toBe(first)
    expect([other, policyOf({ ...rules, ...other }) === first]).toEqual([other, false])
  }
})
