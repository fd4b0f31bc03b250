import { join } from 'node:path'
import { ensurePackages } from '../../../supabase/local/npm_tool.ts'
import { fetchEnvironment } from '../../../supabase/local/packages/environment.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import type { DebianRoot, Log } from './mod.ts'

/** The oldest Node.js of the README, and the npm that comes with it. */
const NODE = '20.20.2'
const NPM = '10.9.9'

const CERTIFICATES = '/usr/local/share/machine-certificates.pem'

/** Puts Node.js with npm below /usr/local of a root, laid out as its makers do. */
export async function addNode(root: DebianRoot, log: Log): Promise<void> {
  const name = `node-linux-${Deno.build.arch === 'x86_64' ? 'x64' : 'arm64'}`
  const packages = [`${name}@${NODE}`, `npm@${NPM}`]
  const modules = await ensurePackages(projectRoot, `node-${NODE}-npm-${NPM}`, packages, log)
  const usr = join(root.upper, 'usr/local')
  await Deno.mkdir(join(usr, 'bin'), { recursive: true })
  await Deno.mkdir(join(usr, 'lib/node_modules'), { recursive: true })
  await Deno.copyFile(join(modules, name, 'bin/node'), join(usr, 'bin/node'))
  await copyFolder(join(modules, 'npm'), join(usr, 'lib/node_modules/npm'))
  for (const program of ['npm', 'npx']) {
    const target = `../lib/node_modules/npm/bin/${program}-cli.js`
    await Deno.symlink(target, join(usr, 'bin', program))
  }
}

/**
 * What a root needs of this machine to get to the package registry, as a company's new employee would
 * set it: the file of certificates in NODE_EXTRA_CA_CERTS, the mirror and its token in npmrc, the
 * proxy. Returns the variables.
 */
export async function addRegistryAccess(root: DebianRoot): Promise<Record<string, string>> {
  const { env } = fetchEnvironment()
  const variables: Record<string, string> = {}
  if (env.DENO_CERT !== undefined) {
    const target = join(root.upper, CERTIFICATES)
    await Deno.mkdir(join(target, '..'), { recursive: true })
    await Deno.copyFile(env.DENO_CERT, target)
    variables.NODE_EXTRA_CA_CERTS = CERTIFICATES
  }
  for (const name of ['HTTPS_PROXY', 'NO_PROXY']) {
    const value = env[name] ?? env[name.toLowerCase()]
    if (value !== undefined) variables[name] = value
  }
  const home = join(root.upper, 'root')
  await Deno.mkdir(home, { recursive: true })
  await Deno.writeTextFile(join(home, '.npmrc'), await registryLines(env))
  return variables
}

async function registryLines(env: Record<string, string>): Promise<string> {
  const path = env.npm_config_userconfig ?? env.NPM_CONFIG_USERCONFIG ??
    join(env.HOME ?? '', '.npmrc')
  const text = await Deno.readTextFile(path).catch(() => '')
  const lines = text.split('\n').filter((line) =>
    /^\s*(\/\/|@[^:]+:registry|registry|_auth)/.test(line)
  )
  if (env.NPM_CONFIG_REGISTRY !== undefined) lines.push(`registry=${env.NPM_CONFIG_REGISTRY}`)
  return lines.map((line) => `${line}\n`).join('')
}

async function copyFolder(from: string, to: string): Promise<void> {
  const { success, stderr } = await new Deno.Command('cp', { args: ['-a', from, to] }).output()
  if (!success) throw new Error(`Cannot copy ${from}: ${new TextDecoder().decode(stderr)}`)
}
