/**
 * A package registry behind a certificate authority that only one of the machine's settings names: both
 * Denos and npm get to it by each of them.
 */

import { expect } from '@std/expect'
import { join } from 'node:path'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { denoCache } from '../../supabase/local/packages/deno_cache.ts'
import { fetchEnvironment } from '../../supabase/local/packages/environment.ts'
import { fetchProblem } from '../../supabase/local/packages/problem.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { edgeDeno } from '../_run/tools.ts'
import { makeCertificates } from '../_support/brokers/certificates.ts'
import { testFolder } from '../_support/folder.ts'

const folder = testFolder()
const home = join(folder, 'home')
let ca: string
let registry: Deno.HttpServer<Deno.NetAddr>

Deno.test.beforeAll(async () => {
  await Deno.mkdir(home, { recursive: true })
  const made = await makeCertificates(join(folder, 'tls'))
  ca = made.caFile
  await Deno.writeTextFile(join(folder, 'npmrc'), `fund=false\ncafile=${ca}\n`)
  const [cert, key] = await Promise.all(
    [made.certFile, made.keyFile].map((p) => Deno.readTextFile(p)),
  )
  registry = Deno.serve(
    { hostname: '127.0.0.1', port: 0, cert: cert ?? '', key: key ?? '', onListen: () => {} },
    () => new Response('{"error":"not found"}', { status: 404 }),
  )
})
Deno.test.afterAll(async () => {
  await registry.shutdown()
  await Deno.remove(folder, { recursive: true })
})

/** An environment that knows nothing of this machine's own settings. */
function environment(more: Record<string, string>): Record<string, string> {
  return {
    PATH: Deno.env.get('PATH') ?? '',
    HOME: home,
    DENO_DIR: join(folder, `cache-${crypto.randomUUID()}`),
    npm_config_cache: join(folder, 'npm'),
    // npm's own file of the whole machine may name an authority.
    npm_config_globalconfig: join(folder, 'none'),
    NPM_CONFIG_REGISTRY: `https://localhost:${registry.addr.port}/`,
    ...more,
  }
}

const where = { cacheDir: '', cacheVariable: '' }
const lacks = /^The package registry does not have a required package/
const unknown =
  /^The package registry has a certificate of an authority that this machine does not trust/

const settings: Record<string, () => Record<string, string>> = {
  NODE_EXTRA_CA_CERTS: () => ({ NODE_EXTRA_CA_CERTS: ca }),
  SSL_CERT_FILE: () => ({ SSL_CERT_FILE: ca }),
  DENO_CERT: () => ({ DENO_CERT: ca }),
  "npm's cafile in the environment": () => ({ npm_config_cafile: ca }),
  "npm's cafile in the person's npmrc": () => ({ NPM_CONFIG_USERCONFIG: join(folder, 'npmrc') }),
  "npm's cafile in the machine's npmrc": () => ({ npm_config_globalconfig: join(folder, 'npmrc') }),
  'a second file beside one that does not help': () => ({
    NODE_EXTRA_CA_CERTS: ca,
    SSL_CERT_FILE: join(folder, 'tls/cert.pem'),
  }),
  'a file beside a variable that names nothing': () => ({
    NODE_EXTRA_CA_CERTS: ca,
    SSL_CERT_FILE: join(folder, 'gone.pem'),
  }),
}

/** What fetching a package comes to, as a person is told. */
async function fetchBy(program: string, more: Record<string, string>): Promise<string | null> {
  const { env } = fetchEnvironment(environment(more))
  if (program === 'npm') {
    const { stderr } = await new Deno.Command('npm', {
      args: ['view', '--fetch-retries=0', 'not-there'],
      clearEnv: true,
      env,
    }).output()
    return fetchProblem(new TextDecoder().decode(stderr), where)
  }
  const deno = program === 'this Deno'
    ? Deno.execPath()
    : join(await ensureTool(projectRoot, 'deno', edgeDeno), 'deno')
  const { said } = await denoCache({ deno, modules: ['npm:not-there@1.0.0'], cwd: folder, env })
  return fetchProblem(said, where)
}

for (const program of ['this Deno', `Deno ${edgeDeno}`, 'npm']) {
  for (const [name, more] of Object.entries(settings)) {
    Deno.test(`${program} gets to the registry by ${name} alone`, async () => {
      expect(await fetchBy(program, more())).toMatch(lacks)
    })
  }

  Deno.test(`where nothing names the authority, what ${program} says becomes one sentence`, async () => {
    expect(await fetchBy(program, {})).toMatch(unknown)
  })
}

Deno.test('a variable that names no certificates is reported', () => {
  const { env, notes } = fetchEnvironment({ SSL_CERT_FILE: '/nothing/here.pem' })
  expect(notes).toEqual([
    'SSL_CERT_FILE names /nothing/here.pem, which has no readable certificate: it is ignored',
  ])
  expect(env.SSL_CERT_FILE).toBe(undefined)
})
