/**
 * What the tests need from the package registry besides what they import, fetched before the first of
 * them by the process that a person started. The tests themselves fetch nothing.
 */

import { join } from 'node:path'
import { consoleTools } from '../../console/build/tools.ts'
import { typeGenerator } from '../../package/build/client_types.ts'
import { buildTools } from '../../package/build/tools.ts'
import { ensurePackages, ensureTool } from '../../supabase/local/npm_tool.ts'
import { fetchModules } from '../../supabase/local/packages/fetch.ts'
import { cliVersions } from '../../supabase/local/supabase_cli.ts'
import { fetchForNode } from '../_support/node.ts'
import type { Need } from './needs.ts'
import { listFiles } from './files.ts'

/** The Deno level of the edge runtime: what functions/ contains must run there too. */
export const edgeDeno = '2.1.4'

/** Programs of npm, each in its own folder, with the exact version. */
export const npmTools = {
  redocly: ['@redocly/cli', '2.77.0'],
  typescriptClient: typeGenerator,
  bun: ['bun', '1.4.5'],
  // The newest one that runs on Node 20.
  verdaccio: ['verdaccio', '6.8.0'],
} as const

/** Hears what is being done, a line a call. */
type Log = (line: string) => void

/** Each thing to fetch, with the need that it satisfies; they are independent of each other. */
export function toolWork(root: string, log: Log): [Need, () => Promise<unknown>][] {
  const install = ([name, version]: readonly [string, string]) => (): Promise<unknown> =>
    ensureTool(root, name, version, log)
  return [
    ['edge Deno', () => fetchForEdgeDeno(root, log)],
    ...cliVersions.map((version): [Need, () => Promise<unknown>] => [
      'supabase',
      install(['supabase', version]),
    ]),
    ['redocly', install(npmTools.redocly)],
    ['typescript client', install(npmTools.typescriptClient)],
    ['bun', install(npmTools.bun)],
    ['registry', install(npmTools.verdaccio)],
    ['package tools', () => buildTools(root, log)],
    ['console tools', () => consoleTools(root, log)],
    ['receiver packages', () => receiverPackages(root, log)],
    ['react packages', () => reactPackages(root, log)],
    ['page packages', () => fetchForPages(root, log)],
    ['bundler', () => fetchBundler(root, log)],
    ['Node', () => fetchForNode(log)],
  ]
}

/**
 * The packages that the pages' receivers for Node.js need, in the versions that the project itself
 * uses: the folder that holds them.
 */
export async function receiverPackages(root: string, log: Log = () => {}): Promise<string> {
  // SAFETY: a package that the map does not name fails the installation.
  const { imports } = JSON.parse(await Deno.readTextFile(join(root, 'import_map.json'))) as {
    imports: Record<string, string>
  }
  const packages = ['standardwebhooks', 'postgres'].map((name) =>
    imports[name]?.replace(/^npm:/, '') ?? name
  )
  // The project itself has no use for this one.
  packages.push('express@5.3.0')
  return await ensurePackages(root, packages.join('-'), packages, log)
}

/** React and a bundler, for an app that embeds the portal: the folder that holds them. */
export async function reactPackages(root: string, log: Log = () => {}): Promise<string> {
  const packages = ['esbuild@0.28.2', 'react@19.3.1', 'react-dom@19.3.1']
  return await ensurePackages(root, packages.join('-'), packages, log)
}

/** The older Deno, and what it keeps of its own: the functions' packages and the types of Node. */
async function fetchForEdgeDeno(root: string, log: Log): Promise<void> {
  const deno = join(await ensureTool(root, 'deno', edgeDeno, log), 'deno')
  const modules = ['functions', 'tests/functions', 'tests/e2e/brokers/send.ts']
  const paths = await Promise.all(modules.map((path) => modulesOf(root, path)))
  await fetchModules({ modules: paths.flat(), cwd: root, deno, log })
  // Its type checker takes the types of Node from npm as well.
  const modulesOfNode = ['functions/_shared/signing/hmac.ts']
  await fetchModules({ modules: modulesOfNode, command: 'check', cwd: root, deno, log })
}

async function modulesOf(root: string, path: string): Promise<string[]> {
  return path.endsWith('.ts') ? [path] : await listFiles(root, path, '.ts')
}

/** The packages that the pages' own programs import by name. */
async function fetchForPages(root: string, log: Log): Promise<void> {
  const pages = [...await listFiles(root, 'docs', '.md'), 'README.md']
  const texts = await Promise.all(pages.map((path) => Deno.readTextFile(join(root, path))))
  const found = texts.join('\n').matchAll(/['"](npm:@?[\w./-]+@\d+(?:\.\d+)*)['"/]/g)
  const modules = [...new Set([...found].map(([, specifier = '']) => specifier))]
  if (modules.length > 0) await fetchModules({ modules, cwd: root, log })
}

/** `deno bundle` takes its bundler from npm at its first use. */
async function fetchBundler(root: string, log: Log): Promise<void> {
  const output = await Deno.makeTempFile({ suffix: '.js' })
  try {
    const modules = ['functions/_shared/signing/hmac.ts']
    await fetchModules({ modules, command: 'bundle', flags: ['--output', output], cwd: root, log })
  } finally {
    await Deno.remove(output)
  }
}
