import type { Mutant } from '../mutant.ts'

export const coldStart: readonly Mutant[] = [
  {
    file: 'supabase/local/packages/trust.ts',
    find: `['DENO_CERT', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']`,
    replace: `['DENO_CERT', 'SSL_CERT_FILE']`,
    tests: ['functions/local/trust.test.ts'],
    why: 'The first start fails where a company names its authority in NODE_EXTRA_CA_CERTS.',
  },
  {
    file: 'supabase/local/packages/trust.ts',
    find: `trust.variables.DENO_TLS_CA_STORE = 'system,mozilla'`,
    replace: `trust.variables.DENO_TLS_CA_STORE = 'mozilla'`,
    tests: ['functions/local/trust.test.ts'],
    why: `The first start fails where the authority is in the system's store.`,
  },
  {
    file: 'supabase/local/packages/trust.ts',
    find: '[...new Set([...found.values()].flat())]',
    replace: '[...found.values()].slice(0, 1).flat()',
    tests: ['functions/local/trust.test.ts'],
    why: 'Of several files of certificates only the first counts.',
  },
  {
    file: 'supabase/local/packages/trust.ts',
    find: `      trust.unset.push(name)
`,
    replace: '',
    tests: ['functions/local/trust.test.ts'],
    why: 'A variable that names no certificate makes Deno fail without a remedy.',
  },
  {
    file: 'supabase/local/packages/trust.ts',
    find: '&& !env[name.toLowerCase()]) trust',
    replace: ') trust',
    tests: ['functions/local/trust.test.ts'],
    why: `npm's proxy goes before the one that the environment names.`,
  },
  {
    file: 'supabase/local/packages/problem.ts',
    find: `return line.replace(/\\/\\/[^\\s/@]+@/g, '//')`,
    replace: 'return line',
    tests: ['functions/local/failures.test.ts'],
    why: 'The password of a proxy is shown.',
  },
  {
    file: 'supabase/local/functions/backoff.ts',
    find: 'FIRST_MS * 2 ** (failures - 1)',
    replace: 'FIRST_MS',
    tests: ['functions/local/failures.test.ts'],
    why: 'A function that does not start is started four times a second.',
  },
  {
    file: 'supabase/local/functions/failure.ts',
    find: `if (how.startsWith('SIG')) return`,
    replace: `if (how === 'SIGSEGV') return`,
    tests: ['functions/local/failures.test.ts'],
    why: 'Code is to be corrected whose process was ended from outside.',
  },
  {
    file: 'supabase/local/packages/node_version.ts',
    find: '>= OLDEST) return null',
    replace: '> OLDEST) return null',
    tests: ['functions/local/failures.test.ts'],
    why: 'The oldest Node.js that will do is refused.',
  },
]
