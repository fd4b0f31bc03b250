import { expect } from '@std/expect'
import { type Files, machineTrust } from '../../../supabase/local/packages/trust.ts'

function certificate(name: string): string {
  return `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----`
}

function memory(
  content: Record<string, string>,
  isWritable = true,
): { files: Files; written: Map<string, string> } {
  const written = new Map<string, string>()
  const files: Files = {
    read: (path) => written.get(path) ?? content[path] ?? null,
    write(path, text): boolean {
      if (isWritable) written.set(path, text)
      return isWritable
    },
  }
  return { files, written }
}

Deno.test('whoever a machine trusts stands in DENO_CERT, whichever variable names it', () => {
  for (const name of ['DENO_CERT', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']) {
    const { files } = memory({ '/ca.pem': certificate('A') })
    const { variables, notes } = machineTrust({ [name]: '/ca.pem' }, files, '/cache')
    expect([name, variables, notes]).toEqual([name, {
      DENO_TLS_CA_STORE: 'system,mozilla',
      DENO_CERT: '/ca.pem',
      ...name === 'NODE_EXTRA_CA_CERTS' ? {} : { NODE_EXTRA_CA_CERTS: '/ca.pem' },
    }, []])
  }
})

Deno.test('the certificates of several files are put together, each once', () => {
  const { files, written } = memory({
    '/a.pem': `${certificate('A')}\n${certificate('B')}\n`,
    '/b.pem': certificate('B'),
    '/me/.npmrc': 'cafile = "${HOME}/c.pem"\n',
    '/me/c.pem': certificate('C'),
  })
  const env = { NODE_EXTRA_CA_CERTS: '/a.pem', SSL_CERT_FILE: '/b.pem', HOME: '/me' }
  const { variables } = machineTrust(env, files, '/cache')
  expect(variables.DENO_CERT).toMatch(/^\/cache\/outhook-certificates-[0-9a-f]{16}\.pem$/)
  expect([...written.values()])
    .toEqual([['A', 'B', 'C'].map((name) => `${certificate(name)}\n`).join('')])
  // Node has its own file already.
  expect(variables.NODE_EXTRA_CA_CERTS).toBe(undefined)
})

Deno.test('where they cannot be put together the first file counts', () => {
  const { files } = memory({ '/a.pem': certificate('A'), '/b.pem': certificate('B') }, false)
  const env = { NODE_EXTRA_CA_CERTS: '/a.pem', SSL_CERT_FILE: '/b.pem' }
  expect(machineTrust(env, files, '/cache').variables.DENO_CERT).toBe('/a.pem')
})

Deno.test('a file without a certificate is passed over, and its variable is not handed on', () => {
  const { files } = memory({ '/empty.pem': 'no certificate' })
  const env = { SSL_CERT_FILE: '/empty.pem', DENO_TLS_CA_STORE: 'system' }
  expect(machineTrust(env, files, '/cache')).toEqual({
    variables: {},
    unset: ['SSL_CERT_FILE'],
    notes: [
      'SSL_CERT_FILE names /empty.pem, which has no readable certificate: it is ignored',
    ],
  })
})

Deno.test("npm's mirror and proxy are handed on where the environment names none", () => {
  const npmrc =
    'registry=https://mirror.example/\nproxy=http://proxy.example:1\nnoproxy=a.example\n'
  const { files } = memory({ '/me/.npmrc': npmrc })
  expect(machineTrust({ HOME: '/me', DENO_TLS_CA_STORE: 'x' }, files, '/cache').variables)
    .toEqual({
      NPM_CONFIG_REGISTRY: 'https://mirror.example/',
      HTTPS_PROXY: 'http://proxy.example:1',
      NO_PROXY: 'a.example',
    })
  const named = {
    HOME: '/me',
    DENO_TLS_CA_STORE: 'x',
    https_proxy: 'http://other.example:2',
    NO_PROXY: 'b.example',
    npm_config_registry: 'https://other.example/',
  }
  expect(machineTrust(named, files, '/cache').variables).toEqual({})
})
