import { join } from 'node:path'
import { entryPoints, program } from './manifest.ts'
import { noticesFile, noticesText, packagesOfMetafile } from './notices.ts'
import { writePortal } from './portal.ts'
import { runTool } from './run_tool.ts'

/**
 * Bundles each entry point and the program into one ES module without imports, except those of Node, and the
 * portal, and writes the notices of what they contain.
 */
export async function bundle(root: string, modules: string, out: string): Promise<void> {
  const metafile = join(out, 'metafile.json')
  const packages: string[] = []
  for (const { source, bundle } of [...entryPoints, program]) {
    await runTool(join(modules, '.bin', 'esbuild'), [
      join(root, source),
      '--bundle',
      '--format=esm',
      '--platform=neutral',
      '--main-fields=module,main',
      '--conditions=import',
      '--target=es2022',
      '--external:node:*',
      '--log-level=warning',
      `--metafile=${metafile}`,
      `--outfile=${join(out, bundle)}`,
    ], { cwd: root, env: { NODE_PATH: modules } })
    packages.push(...await packagesOfMetafile(root, metafile))
  }
  await Deno.remove(metafile)
  packages.push(...await writePortal(root, out))
  await Deno.writeTextFile(join(out, noticesFile), await noticesText(packages))
}
