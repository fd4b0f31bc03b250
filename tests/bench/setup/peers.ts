/**
 * What the bench is measured against, installed by npm into a folder of its own, with a Node to run
 * it and the bench's own files made into plain JavaScript that Node and Deno both take.
 */

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SetupError } from '../../../supabase/local/errors.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { esbuildVersion } from '../../../supabase/local/worker/bundle.ts'

/** The exact versions that are installed. */
export const versions = {
  'graphile-worker': '0.18.0',
  'pg-boss': '12.38.0',
  bullmq: '6.7.0',
  ioredis: '6.0.0',
  pg: '8.23.1',
  undici: '7.30.2',
  esbuild: esbuildVersion,
} as const

/** pg-boss and graphile-worker need 22; this is the long-term release after it. */
export const nodeVersion = '24.21.0'

const SOURCES = ['receiver', 'sides/graphile', 'sides/pg_boss', 'sides/bullmq', 'sides/naive']
const CEILINGS = ['sides/undici', 'sides/fetch']

export interface Peers {
  /** The command that runs `source` of this bench under `runtime`. */
  command(source: string, runtime: 'node' | 'deno'): string[]
  /** The Node that runs them. */
  readonly node: string
}

/** Installs what is missing and compiles; `log` hears of an installation. */
export async function preparePeers(log: (line: string) => void): Promise<Peers> {
  const key = Object.values(versions).join('-')
  const folder = join(projectRoot, '.outhook', 'bench', `peers-${key}-node-${nodeVersion}`)
  const nodePackage = `node-${Deno.build.os}-${Deno.build.arch === 'x86_64' ? 'x64' : 'arm64'}`
  const node = join(folder, 'node_modules', nodePackage, 'bin', 'node')
  if (!await exists(node)) await install(folder, nodePackage, log)
  const out = join(folder, `built-${crypto.randomUUID().slice(0, 8)}`)
  await compile(folder, out)
  globalThis.addEventListener('unload', () => Deno.removeSync(out, { recursive: true }))
  return {
    node,
    command: (source, runtime) => {
      const file = join(out, `${source}.mjs`)
      return runtime === 'node'
        ? [node, file]
        : [Deno.execPath(), 'run', '-A', '--config', join(folder, 'deno.json'), file]
    },
  }
}

async function install(
  folder: string,
  nodePackage: string,
  log: (line: string) => void,
): Promise<void> {
  const packages = Object.entries({ ...versions, [nodePackage]: nodeVersion })
    .map(([name, version]) => `${name}@${version}`)
  log(`installing ${packages.join(' ')} from npm`)
  await Deno.mkdir(dirname(folder), { recursive: true })
  // Made under another name and renamed, so that what is there is always whole.
  const draft = await Deno.makeTempDir({ dir: dirname(folder), prefix: '.draft-' })
  await Deno.writeTextFile(join(draft, 'package.json'), '{"private":true,"type":"module"}')
  await Deno.writeTextFile(join(draft, 'deno.json'), '{"nodeModulesDir":"manual","lock":false}')
  await runQuietly('npm', [
    ...['install', '--prefix', draft, '--save-exact', '--no-audit', '--no-fund'],
    ...packages,
  ])
  await Deno.rename(draft, folder)
}

/** esbuild puts our own modules together and leaves the packages where they are. */
async function compile(folder: string, out: string): Promise<void> {
  const here = fileURLToPath(new URL('../', import.meta.url))
  await runQuietly(join(folder, 'node_modules', '.bin', 'esbuild'), [
    ...[...SOURCES, ...CEILINGS].map((source) => join(here, `${source}.ts`)),
    ...['--bundle', '--packages=external', '--platform=node', '--format=esm', '--target=node22'],
    ...[`--outdir=${out}`, `--outbase=${here}`, '--out-extension:.js=.mjs', '--log-level=warning'],
  ])
}

async function runQuietly(program: string, args: string[]): Promise<void> {
  const ended = await new Deno.Command(program, { args, stdin: 'null' }).output()
    .catch((cause) => {
      throw new SetupError(`Cannot start ${program}; npm comes with Node.js`, { cause })
    })
  if (ended.success) return
  throw new SetupError(`${program} failed:\n${new TextDecoder().decode(ended.stderr).trim()}`)
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false)
}
