import { join } from 'node:path'
import { version } from '../../functions/_shared/base/version.ts'
import { bundle } from './bundle.ts'
import { writeDeclarations } from './declarations.ts'
import { entryPoints, packageJson } from './manifest.ts'
import { pack, type Packed } from './pack.ts'
import { buildTools } from './tools.ts'

/**
 * Builds the package `outhook` of the project at `root`, and packs it into the folder `out`, which it
 * replaces.
 */
export async function buildPackage(
  root: string,
  out: string,
  log?: (line: string) => void,
): Promise<Packed> {
  const modules = await buildTools(root, log)
  await Deno.remove(out, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error
  })
  const folder = join(out, 'outhook')
  await Deno.mkdir(folder, { recursive: true })
  await bundle(root, modules, folder)
  await writeDeclarations(root, modules, folder, entryPoints)
  await Deno.writeTextFile(join(folder, 'package.json'), packageJson(version))
  await Deno.copyFile(join(root, 'package/README.md'), join(folder, 'README.md'))
  await Deno.copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  return await pack(folder, out)
}
