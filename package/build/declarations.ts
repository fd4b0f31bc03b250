import { dirname, join, relative } from 'node:path'
import type { EntryPoint } from './manifest.ts'
import { runTool } from './run_tool.ts'

/**
 * Writes the declarations of the package into `out`/types. Only `deno check` checks the sources: here
 * TypeScript reads them without the types of Deno.
 */
export async function writeDeclarations(
  root: string,
  modules: string,
  out: string,
  entryPoints: readonly EntryPoint[],
): Promise<void> {
  const draft = await Deno.makeTempDir()
  try {
    await runTool(join(modules, '.bin', 'tsc'), [
      ...entryPoints.map(({ source }) => join(root, source)),
      '--declaration',
      '--emitDeclarationOnly',
      '--noCheck',
      '--allowImportingTsExtensions',
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--target',
      'es2022',
      '--lib',
      'es2023,dom,dom.iterable',
      '--types',
      'node',
      '--typeRoots',
      join(modules, '@types'),
      '--strict',
      '--rootDir',
      root,
      '--outDir',
      draft,
    ], { cwd: root })
    const to = join(out, 'types')
    const copied = new Set<string>()
    for (const { types } of entryPoints) {
      await copyDeclarations(join(draft, 'package'), to, relative('types', types), copied)
    }
  } finally {
    await Deno.remove(draft, { recursive: true })
  }
}

/**
 * Copies a declaration and those that it imports; the imports then name files of the package. A file that
 * none imports could name a package that nobody installs.
 */
async function copyDeclarations(
  from: string,
  to: string,
  path: string,
  copied: Set<string>,
): Promise<void> {
  if (copied.has(path)) return
  copied.add(path)
  const text = await Deno.readTextFile(join(from, path))
  await Deno.mkdir(dirname(join(to, path)), { recursive: true })
  await Deno.writeTextFile(join(to, path), text.replaceAll(imported, '$1.js$2'))
  for (const [, start = ''] of text.matchAll(imported)) {
    await copyDeclarations(from, to, `${join(dirname(path), start.slice(1))}.d.ts`, copied)
  }
}

const imported = /(['"]\.[^'"]*)\.ts(['"])/g
