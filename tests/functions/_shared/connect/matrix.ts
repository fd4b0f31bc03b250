/** What a host of a URL leads to: the public Internet, a place that is refused, or nowhere. */
export type Verdict = 'public' | 'refused' | 'invalid'

export type HostRow = {
  form: string
  host: string
  verdict: Verdict
  /** outbox.check_url refuses what the sender would read, because the URL parser rewrites it. */
  refusedAtSave?: true
}

function rows(form: string, verdict: Verdict, hosts: string[]): HostRow[] {
  return hosts.map((host) => ({ form, host, verdict }))
}

/** Hosts as a tenant could write them, by form. */
export const hostMatrix: readonly HostRow[] = [
  ...rows('IPv4, dotted', 'refused', ['0.0.0.0', '10.0.0.1', '127.0.0.1', '192.168.1.1']),
  ...rows('IPv4, trailing dot', 'refused', ['127.0.0.1.', '10.0.0.1.']),
  ...rows('IPv4, one number', 'refused', ['2130706433', '0', '4294967295', '2852039166']),
  ...rows('IPv4, one number, public', 'public', ['134744072']),
  ...rows('IPv4, hexadecimal', 'refused', [
    '0x7f000001',
    '0x7f.0x0.0x0.0x1',
    '0X7F.1',
    '0x',
    '0x0',
    '0xA9FEA9FE',
    '0x000000000007f000001',
  ]),
  ...rows('IPv4, hexadecimal, public', 'public', ['0x08080808', '0x8.0x8.0x8.0x8']),
  ...rows('IPv4, octal', 'refused', [
    '017700000001',
    '0177.0.0.1',
    '0177.1',
    '012.0.0.1',
    '00012.1',
  ]),
  ...rows('IPv4, octal, public', 'public', ['010.8.8.8']),
  ...rows('IPv4, short', 'refused', ['127.1', '127.0.1', '10.1', '192.168.257', '169.16689662']),
  ...rows('IPv4, short, public', 'public', ['8.526344', '8.8.2056']),
  ...rows('IPv4, mixed bases', 'refused', ['0x7f.0.0.01', '0xa9.254.0251.0xfe', '0300.0xa8.1']),
  ...rows('IPv4, no valid address', 'invalid', [
    '256.1.1.1',
    '1.2.3.4.5',
    '1.2.3.256',
    '4294967296',
    '0x100000000',
    '08.8.8.8',
    '1..2.3',
    'a.1',
    'example.com.0x7f',
    '99999999999999999999',
  ]),
  ...rows('private', 'refused', [
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.255.255',
  ]),
  ...rows('beside private', 'public', ['9.255.255.255', '11.0.0.0', '172.15.0.1', '172.32.0.1']),
  ...rows('link-local and metadata', 'refused', [
    '169.254.0.1',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '192.0.0.192',
    '168.63.129.16',
    '[fe80::1]',
    '[febf::1]',
  ]),
  ...rows('carrier-grade NAT', 'refused', ['100.64.0.1', '100.127.255.255']),
  ...rows('beside carrier-grade NAT', 'public', ['100.63.255.255', '100.128.0.1']),
  ...rows('IETF, TEST-NET, benchmark', 'refused', [
    '192.0.0.1',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '198.18.0.1',
    '198.19.255.255',
    '192.88.99.1',
  ]),
  ...rows('multicast, reserved, broadcast', 'refused', [
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '[ff02::1]',
    '[ff0e::1]',
  ]),
  ...rows('IPv6 loopback and unspecified', 'refused', ['[::1]', '[::]', '[0:0:0:0:0:0:0:1]']),
  ...rows('IPv6 unique local, site-local', 'refused', ['[fc00::1]', '[fdff::1]', '[fec0::1]']),
  ...rows('IPv4-mapped', 'refused', [
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:169.254.169.254]',
    '[::ffff:8.8.8.8]',
    '[0:0:0:0:0:ffff:7f00:1]',
  ]),
  ...rows('IPv4-compatible', 'refused', ['[::127.0.0.1]', '[::7f00:1]', '[::8.8.8.8]']),
  ...rows('SIIT', 'refused', ['[::ffff:0:127.0.0.1]']),
  ...rows('NAT64', 'refused', ['[64:ff9b::7f00:1]', '[64:ff9b::8.8.8.8]', '[64:ff9b:1::1]']),
  ...rows('6to4', 'refused', ['[2002:7f00:1::]', '[2002:808:808::1]']),
  ...rows('Teredo', 'refused', ['[2001::1]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]']),
  ...rows('ISATAP', 'refused', [
    '[2001:4860::5efe:127.0.0.1]',
    '[2001:4860::200:5efe:8.8.8.8]',
    '[2001:4860:4860:0:0:5efe:a00:1]',
  ]),
  ...rows('IPv6 documentation, ORCHID, discard, SRv6', 'refused', [
    '[2001:db8::1]',
    '[3fff::1]',
    '[2001:10::1]',
    '[2001:20::1]',
    '[100::1]',
    '[5f00::1]',
  ]),
  ...rows('IPv6 not given out', 'refused', ['[4000::1]', '[8000::1]']),
  ...rows('IPv6 public', 'public', ['[2606:4700:4700::1111]', '[2A00:1450:4001:82a::200e]']),
  ...rows('IPv6, no valid address', 'invalid', [
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '[::1]x',
    '[::1',
    '[127.0.0.1]',
    '[1:2:3:4:5:6:7:8:9]',
    '[::1/128]',
    '[]',
    '::1',
  ]),
  ...rows('names', 'public', [
    'example.com',
    'EXAMPLE.com.',
    'xn--mnchen-3ya.de',
    'a-b.c_d.example',
  ]),
  ...rows('names that are none', 'invalid', ['exa<mple.com', 'exa|mple.com', 'a^b.example']),
  ...rows('rewritten by the URL parser', 'refused', [
    '%31%32%37.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '①27.0.0.1',
  ]),
  ...rows('names to the URL parser alone', 'public', ['münchen.example', '1.2.3.4..']).map((
    row,
  ) => ({
    ...row,
    refusedAtSave: true as const,
  })),
]

/** Names that a private network alone knows: refused at save where no such network is allowed. */
export const insideNames: readonly string[] = [
  'localhost',
  'LocalHost.',
  'app.localhost',
  'localhost.localdomain',
  'ip6-localhost',
  'intranet',
  'db.internal',
  'metadata.google.internal',
  'printer.local',
  'nas.home.arpa',
]
