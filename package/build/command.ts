import { basename, delimiter, join } from 'node:path'
import { buildPage } from '../../console/build/build.ts'
import type { AssetIndex } from '../command/assets.ts'
import type { ConsoleIndex } from '../command/console/files.ts'
import { version } from '../../functions/_shared/base/version.ts'
import { buildMigrations, generatedMark } from '../../supabase/local/schema/migration.ts'
import { readOrder } from '../../supabase/local/schema/order.ts'
import { ensurePackages } from '../../supabase/local/npm_tool.ts'
import { pinnedPackages } from '../../supabase/local/worker/packages.ts'
import { packagedFunctions } from './functions.ts'
import { noticesFile, noticesText, packagesOfMetafile } from './notices.ts'
import { pack, type Packed } from './pack.ts'
import { runTool } from './run_tool.ts'
import { buildTools } from './tools.ts'
import { bundleWorker, intoModule, workerProgram } from './worker.ts'

/**
 * Builds the package `outhook-command` with the migrations and the functions of the project at `root`,
 * and packs it into `out`, where buildFunctions() has written the functions.
 */
export async function buildCommand(root: string, out: string): Promise<Packed> {
  const folder = join(out, 'outhook-command')
  const assets = join(folder, 'assets')
  await Deno.mkdir(join(assets, 'migrations'), { recursive: true })
  const modules = await buildTools(root)
  const folders = [modules]
  // The worker bundles it too.
  for (const one of pinnedPackages(['postgres'])) {
    folders.push(await ensurePackages(root, one, [one]))
  }
  const metafile = join(folder, 'metafile.json')
  await runTool(join(modules, '.bin', 'esbuild'), [
    join(root, 'package/command/main.ts'),
    '--bundle',
    '--format=esm',
    '--platform=node',
    '--target=node20',
    '--log-level=warning',
    // Some of the bundled packages call require() for modules of Node.
    "--banner:js=#!/usr/bin/env node\nimport { createRequire } from 'node:module';" +
    'const require = createRequire(import.meta.url);',
    `--metafile=${metafile}`,
    `--outfile=${join(folder, 'outhook.js')}`,
  ], { cwd: root, env: { NODE_PATH: folders.join(delimiter) } })
  await bundleWorker(root, modules, join(folder, 'worker'), [workerProgram, intoModule])
  const packages = await packagesOfMetafile(root, metafile)
  packages.push(...await writeConsole(root, join(assets, 'console'), metafile))
  const notices = await noticesText(packages)
  await Deno.remove(metafile)
  await Deno.writeTextFile(join(folder, noticesFile), notices)
  const migrations = await writeMigrations(root, join(assets, 'migrations'))
  for (const name of packagedFunctions) await copyFunction(out, assets, name)
  await Deno.copyFile(
    join(root, 'package/command/deploy/configure.sql'),
    join(assets, 'configure.sql'),
  )
  for (const name of ['migrate_from', 'uninstall']) {
    await copyFiles(join(root, 'package/command', name), join(assets, name), '.sql')
  }
  const upgrade = await writeUpgrade(root, join(assets, 'upgrades'))
  const index: AssetIndex = { version, migrations, functions: [...packagedFunctions], upgrade }
  await Deno.writeTextFile(join(assets, 'index.json'), `${JSON.stringify(index, null, 2)}\n`)
  await Deno.writeTextFile(join(folder, 'package.json'), manifest())
  await Deno.copyFile(join(root, 'package/command/README.md'), join(folder, 'README.md'))
  await Deno.copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return await pack(folder, out)
}

/**
 * Writes the migrations in the order in which they are applied. Those of the modules are built from
 * sql/: after a release, the files of supabase/migrations have the schema of the first one.
 */
async function writeMigrations(root: string, to: string): Promise<AssetIndex['migrations']> {
  const needs = new Map((await readOrder(root)).map((module) => [module.name, module.needs]))
  const read = (path: string): Promise<string> => Deno.readTextFile(join(root, path))
  const all = [
    {
      module: 'extensions',
      text: await read('supabase/migrations/20251231000000_extensions.sql'),
    },
    ...await buildMigrations(root, version),
    { module: 'jobs', text: await read('supabase/migrations/20260102000000_reload_jobs.sql') },
  ]
  for (const { module, text } of all) {
    const own = text.startsWith(generatedMark) ? text.slice(text.indexOf('\n') + 1) : text
    const head = `-- Outhook ${version}, ${module}. Do not change this file: it is applied once.\n`
    await Deno.writeTextFile(join(to, `${module}.sql`), head + own)
  }
  return all.map(({ module }) => ({
    module,
    needs: needs.get(module) ?? [],
    file: `${module}.sql`,
  }))
}

/** Writes the migrations that upgrade to this version, if the project has them. */
async function writeUpgrade(root: string, to: string): Promise<AssetIndex['upgrade']> {
  const folder = join(root, 'supabase/migrations')
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort()
  const modules: string[] = []
  let from: string | undefined
  for (const name of names) {
    const [, module, of] = /^\d+_outhook_([a-z_]+)_(\d+\.\d+\.\d+)\.sql$/.exec(name) ?? []
    if (module === undefined || of !== version) continue
    const text = await Deno.readTextFile(join(folder, name))
    from = /^-- Module [a-z_]+, from version (\S+) to /m.exec(text)?.[1] ?? from
    const head = `-- Outhook ${version}, ${module}. Do not change this file: it is applied once.\n`
    await Deno.mkdir(to, { recursive: true })
    await Deno.writeTextFile(join(to, `${module}.sql`), head + text.slice(text.indexOf('\n') + 1))
    modules.push(module)
  }
  return from === undefined ? null : { from, modules }
}

/** Writes the page of the console and its index, and returns the folders of the packages in it. */
async function writeConsole(root: string, to: string, metafile: string): Promise<string[]> {
  await Deno.mkdir(to, { recursive: true })
  const index: ConsoleIndex = {}
  for (const [path, { bytes, type }] of await buildPage(root, undefined, metafile)) {
    const file = path === '/' ? 'index.html' : basename(path)
    await Deno.writeFile(join(to, file), bytes)
    index[path] = { file, type }
  }
  await Deno.writeTextFile(join(to, 'index.json'), `${JSON.stringify(index, null, 2)}\n`)
  return await packagesOfMetafile(root, metafile)
}

async function copyFunction(out: string, assets: string, name: string): Promise<void> {
  await copyFiles(join(out, 'functions', `outhook-${name}`), join(assets, 'functions', name))
}

/** Copies the files of a folder whose names end so. */
async function copyFiles(from: string, to: string, ending = ''): Promise<void> {
  await Deno.mkdir(to, { recursive: true })
  for await (const { name } of Deno.readDir(from)) {
    if (name.endsWith(ending)) await Deno.copyFile(join(from, name), join(to, name))
  }
}

function manifest(): string {
  const text = {
    name: 'outhook-command',
    version,
    description: 'Adds Outhook, a transactional outbox, to a Supabase project.',
    keywords: ['webhooks', 'outbox', 'supabase'],
    license: 'MIT',
    type: 'module',
    engines: { node: '>=20.12' },
    bin: { outhook: 'outhook.js' },
    files: ['outhook.js', 'assets', 'worker', noticesFile],
  }
  return `${JSON.stringify(text, null, 2)}\n`
}
