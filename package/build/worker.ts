import { delimiter, join } from 'node:path'
import { version } from '../../functions/_shared/base/version.ts'
import { ensurePackages } from '../../supabase/local/npm_tool.ts'
import { externalPackages, pinnedPackages } from '../../supabase/local/worker/packages.ts'
import { writeDeclarations } from './declarations.ts'
import type { EntryPoint } from './manifest.ts'
import { noticesFile, noticesText, packagesOfMetafile } from './notices.ts'
import { pack, type Packed } from './pack.ts'
import { runTool } from './run_tool.ts'
import { buildTools } from './tools.ts'

/** The modules that a program may import from the package `outhook-worker`. */
export const workerEntries: readonly EntryPoint[] = [
  {
    name: '.',
    source: 'package/worker/mod.ts',
    bundle: 'worker.js',
    types: 'types/worker/mod.d.ts',
  },
  {
    name: './consume',
    source: 'package/consume/mod.ts',
    bundle: 'consume.js',
    types: 'types/consume/mod.d.ts',
  },
]

/** The program that `outhook worker` starts. */
export const workerProgram = { source: 'package/worker/program.ts', bundle: 'program.js' }
/** The module that `outhook consume` runs. */
export const intoModule = { source: 'package/consume/into.ts', bundle: 'into.js' }

/**
 * Builds the package `outhook-worker` of the project at `root`, and packs it into `out`. What its modules share
 * is in chunks, and the clients of the brokers are in chunks of their own.
 */
export async function buildWorker(root: string, out: string): Promise<Packed> {
  const folder = join(out, 'outhook-worker')
  await Deno.mkdir(folder, { recursive: true })
  const modules = await buildTools(root)
  await bundleWorker(root, modules, folder, workerEntries)
  await writeDeclarations(root, modules, folder, workerEntries)
  await Deno.writeTextFile(join(folder, 'package.json'), manifest())
  await Deno.copyFile(join(root, 'package/worker/README.md'), join(folder, 'README.md'))
  await Deno.copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return await pack(folder, out)
}

/** Bundles modules of the worker into the folder `out`, with the notices of what they contain. */
export async function bundleWorker(
  root: string,
  modules: string,
  out: string,
  entries: readonly Pick<EntryPoint, 'source' | 'bundle'>[],
): Promise<void> {
  const esbuild = join(modules, '.bin', 'esbuild')
  const metafile = join(out, 'metafile.json')
  const args = [
    ...entries.map(({ source, bundle }) => `${bundle.replace(/\.js$/, '')}=${join(root, source)}`),
    ...['--bundle', '--splitting', '--format=esm', '--platform=node', '--target=node20'],
    // Each is a module of a package, whatever it does if it is started as a program.
    ...['--define:import.meta.main=false', '--tsconfig-raw={}', '--log-level=warning', '--minify'],
    // Node prints the line of an error that nobody catches.
    '--line-limit=200',
    // An error names its class, and a log its function.
    ...['--keep-names', `--metafile=${metafile}`, '--chunk-names=chunk-[hash]'],
    `--banner:js=${banner}`,
  ]
  const draft = await Deno.makeTempDir()
  try {
    // First only to learn which packages are imported.
    await runTool(esbuild, [...args, '--packages=external', `--outdir=${draft}`], { cwd: root })
  } finally {
    await Deno.remove(draft, { recursive: true })
  }
  const folders: string[] = []
  for (const one of pinnedPackages(externalPackages(await Deno.readTextFile(metafile)))) {
    folders.push(await ensurePackages(root, one.replace('/', '-'), [one]))
  }
  await runTool(esbuild, [...args, `--outdir=${out}`], {
    cwd: root,
    env: { NODE_PATH: folders.join(delimiter) },
  })
  const notices = await noticesText(await packagesOfMetafile(root, metafile))
  await Deno.remove(metafile)
  await Deno.writeTextFile(join(out, noticesFile), notices)
}

/** Packages in the format of CommonJS call `require()`, which a module of ECMAScript does not have. */
const banner = `import { createRequire as outhookRequire } from 'node:module'
const require = outhookRequire(import.meta.url)`

function manifest(): string {
  const exported = workerEntries.map(({ name, bundle, types }) => [
    name,
    { types: `./${types}`, default: `./${bundle}` },
  ])
  const text = {
    name: 'outhook-worker',
    version,
    description: 'The long-running worker of Outhook, and a consumer for brokers.',
    keywords: ['webhooks', 'outbox', 'supabase', 'kafka', 'rabbitmq'],
    license: 'MIT',
    type: 'module',
    engines: { node: '>=20.12' },
    exports: { ...Object.fromEntries(exported), './package.json': './package.json' },
    files: ['*.js', 'types', noticesFile],
  }
  return `${JSON.stringify(text, null, 2)}\n`
}
