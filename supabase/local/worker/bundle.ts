import { delimiter, join, relative } from 'node:path'
import { workerFlags, workerThreads } from '../../../functions/_shared/runtime/node_runtime.ts'
import { SetupError } from '../errors.ts'
import { ensurePackages } from '../npm_tool.ts'
import { projectRoot } from '../schema/project.ts'
import { externalPackages, pinnedPackages } from './packages.ts'

/** The exact version of the bundler. */
export const esbuildVersion = '0.28.2'

/** The oldest Node on which a bundle runs. */
const target = 'node20'

export interface BundleOptions {
  /** The path of a module from the project's root; it exports `main()`. */
  entry: string
  /** Where to write the file; its folder is created. */
  output: string
  log?: (line: string) => void
}

/**
 * Bundles a program of this project into one file for Node. `env` passes the flags of V8 if the file is started
 * as a program; `node <file>` makes the program itself set them.
 */
export async function bundleForNode(
  { entry, output, log = () => {} }: BundleOptions,
): Promise<void> {
  const bundler = await ensurePackages(projectRoot, `esbuild-${esbuildVersion}`, [
    `esbuild@${esbuildVersion}`,
  ], log)
  const esbuild = join(bundler, '.bin', 'esbuild')
  const folder = await Deno.makeTempDir({ prefix: 'outhook-bundle-' })
  try {
    // First only to learn which packages the program imports.
    const meta = join(folder, 'meta.json')
    const first = `--outfile=${join(folder, 'first.mjs')}`
    await run(esbuild, ['--packages=external', `--metafile=${meta}`, first], entry)
    const packages = pinnedPackages(externalPackages(await Deno.readTextFile(meta)))
    const bundle = join(folder, 'bundle.mjs')
    const folders: string[] = []
    // Each in its own folder, which other bundles use too.
    for (const one of packages) {
      folders.push(await ensurePackages(projectRoot, one.replace('/', '-'), [one], log))
    }
    const env = { NODE_PATH: folders.join(delimiter) }
    await run(esbuild, [`--banner:js=${banner}`, `--outfile=${bundle}`], entry, env)
    await write(output, await Deno.readTextFile(bundle))
  } finally {
    await Deno.remove(folder, { recursive: true })
  }
}

/** Packages in the format of CommonJS call `require()`, which a module of ECMAScript does not have. */
const banner = `#!/usr/bin/env -S UV_THREADPOOL_SIZE=${workerThreads} node ${workerFlags.join(' ')}
import { createRequire as outhookRequire } from 'node:module'
const require = outhookRequire(import.meta.url)`

async function run(
  esbuild: string,
  more: string[],
  entry: string,
  env: Record<string, string> = {},
): Promise<void> {
  const child = new Deno.Command(esbuild, {
    args: [
      ...['--bundle', '--platform=node', '--format=esm', `--target=${target}`],
      // The program starts here alone, whatever its modules do if they are started themselves.
      ...['--define:import.meta.main=false', '--tsconfig-raw={}', '--log-level=warning'],
      ...['--legal-comments=eof', '--sourcefile=worker.ts', ...more],
    ],
    cwd: projectRoot,
    env,
    stdin: 'piped',
    stdout: 'null',
    stderr: 'piped',
  }).spawn()
  const from = `./${relative(projectRoot, join(projectRoot, entry)).replaceAll('\\', '/')}`
  const writer = child.stdin.getWriter()
  await writer.write(
    new TextEncoder().encode(`import { main } from ${JSON.stringify(from)}\nawait main()\n`),
  )
  await writer.close()
  const { success, stderr } = await child.output()
  if (success) return
  throw new SetupError(`Cannot bundle ${entry}:\n${new TextDecoder().decode(stderr).trim()}`)
}

/** Under another name first, so that the file is always complete. */
async function write(output: string, text: string): Promise<void> {
  const draft = `${output}.${crypto.randomUUID().slice(0, 8)}`
  await Deno.mkdir(join(output, '..'), { recursive: true })
  await Deno.writeTextFile(draft, text, { mode: 0o755 })
  await Deno.rename(draft, output)
}
