import type { Mutant } from '../mutant.ts'

export const egress: readonly Mutant[] = [
  {
    file: 'functions/_shared/connect/address.ts',
    find: `if (text.includes('%')) return false
`,
    replace: '',
    tests: ['functions/_shared/connect/address.test.ts'],
    why: 'An address with a zone picks an interface of the machine.',
  },
  {
    file: 'functions/_shared/connect/address.ts',
    find: `&&
    !insidePublic.some((network) => isWithin(address, network))`,
    replace: '',
    tests: ['functions/_shared/connect/address.test.ts'],
    why: 'The metadata of Azure can be reached.',
  },
  {
    file: 'functions/_shared/connect/address.ts',
    find: '&& !isIsatap(address)',
    replace: '',
    tests: ['functions/_shared/connect/address.test.ts'],
    why: 'An IPv6 address that carries a private IPv4 one is reached.',
  },
  {
    file: 'functions/_shared/connect/address.ts',
    find: 'address.match(globalUnicast) && address',
    replace: 'address',
    tests: ['functions/_shared/connect/address.test.ts'],
    why: 'IPv6 addresses that nobody has been given are reached.',
  },
  {
    file: 'functions/_shared/connect/address.ts',
    find: 'a.allowHttp === b.allowHttp && a',
    replace: 'a',
    tests: ['functions/_shared/connect/address.test.ts', 'functions/_shared/http1/pools.test.ts'],
    why: 'After allow_http is switched off, http goes on.',
  },
  {
    file: 'functions/_shared/connect/target.ts',
    find: `if (url.username !== '' || url.password !== '') {`,
    replace: `if (url.password !== '') {`,
    tests: ['functions/_shared/connect/target.test.ts'],
    why: 'A URL with a user name is taken.',
  },
  {
    file: 'functions/_shared/connect/target.ts',
    find: `policy.rules.allowHttp && url.protocol === 'http:'`,
    replace: 'policy.rules.allowHttp',
    tests: ['functions/_shared/connect/target.test.ts'],
    why: 'Locally any scheme is taken.',
  },
  {
    file: 'functions/_shared/connect/target.ts',
    find: 'return isIP(host) === 0 || policy.allows(host)',
    replace: 'return policy.allows(host) || isIP(host) !== 4',
    tests: ['functions/_shared/connect/target.test.ts'],
    why: 'A literal IPv6 address of the inside is reached.',
  },
  {
    file: 'functions/_shared/connect/target.ts',
    find: `return protocol === 'https:' ? 443 : 80`,
    replace: 'return 443',
    tests: ['functions/_shared/connect/target.test.ts'],
    why: 'The port of a http URL is taken for 443.',
  },
  {
    file: 'functions/_shared/connect/lookup.ts',
    find: '!addresses.every(({ address }) => policy.allows(address))',
    replace: '!addresses.some(({ address }) => policy.allows(address))',
    tests: [
      'functions/_shared/connect/lookup.test.ts',
      'functions/_shared/connect/rebinding.test.ts',
    ],
    why: 'A name with one public and one private address leads inside.',
  },
  {
    file: 'functions/_shared/connect/lookup.ts',
    find: 'a.family - b.family',
    replace: 'b.family - a.family',
    tests: ['functions/_shared/connect/lookup.test.ts'],
    why: 'Where there is no IPv6 nothing is delivered.',
  },
  {
    file: 'functions/_shared/connect/dial.ts',
    find: `  if (!policy.allowsPort(port)) throw new BlockedAddressError(portMessage)
`,
    replace: '',
    tests: ['functions/_shared/connect/socket.test.ts'],
    why: 'A broker redirects a client to a port that is not allowed.',
  },
  {
    file: 'functions/_shared/connect/dial.ts',
    find: `  if (!isAllowedHost(hostname, policy)) throw new BlockedAddressError()
`,
    replace: '',
    tests: ['functions/_shared/connect/socket.test.ts'],
    why: `A literal address of the inside is connected to by a broker's client.`,
  },
  {
    file: 'functions/_shared/connect/connector.ts',
    find: `checkDial({ ...to, policy })
`,
    replace: `
`,
    tests: [
      'functions/_shared/connect/tunnel.test.ts',
      'functions/_shared/connect/rebinding.test.ts',
    ],
    why: 'Through a proxy a literal address of the inside is reached.',
  },
  {
    file: 'functions/_shared/connect/ports.ts',
    find: `if (denied.some((range) => holds(range, port))) return false
`,
    replace: '',
    tests: ['functions/_shared/connect/target.test.ts'],
    why: 'A webhook goes to the port of a database.',
  },
  {
    file: 'functions/_shared/connect/ports.ts',
    find: 'port >= first && port <= last',
    replace: 'port >= first && port < last',
    tests: ['functions/_shared/connect/target.test.ts'],
    why: 'The last port of a range is refused.',
  },
  {
    file: 'functions/_shared/connect/tunnel.ts',
    find: `if (status === 403) throw new BlockedAddressError()
`,
    replace: '',
    tests: ['functions/_shared/connect/tunnel.test.ts'],
    why: 'What the proxy forbids is retried as unreachable.',
  },
  {
    file: 'functions/_shared/connect/tunnel.ts',
    find: "hostname.includes(':') ? `[${hostname}]` : hostname",
    replace: 'hostname',
    tests: ['functions/_shared/connect/tunnel.test.ts'],
    why: 'An IPv6 address cannot be reached through a proxy.',
  },
  {
    file: 'sql/foundation/egress.sql',
    find: `'169.254.0.0/16', `,
    replace: '',
    tests: ['sql/same_rules.test.ts'],
    why: 'The metadata of a cloud can be named as an endpoint.',
  },
  {
    file: 'sql/foundation/egress.sql',
    find: 'when v_n < v_count then 256 else 256::bigint ^ (5 - v_count) end',
    replace: 'when v_n < v_count then 256 else 256 end',
    tests: ['sql/same_rules.test.ts'],
    why: '127.1 and 2130706433 are names to the check, and addresses to the sender.',
  },
  {
    file: 'sql/foundation/egress.sql',
    find:
      `    select from pg_catalog.jsonb_array_elements_text(outbox.setting_value('egress.allow_cidrs')) c
    where p_address <<= c.value::inet);`,
    replace:
      `    select from pg_catalog.jsonb_array_elements_text(outbox.setting_value('egress.allow_cidrs')) c
    where c.value is not null);`,
    tests: ['sql/foundation/egress/settings.test.sql', 'sql/same_rules.test.ts'],
    why: 'Any allowed network allows all.',
  },
]
