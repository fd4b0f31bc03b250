import { join } from 'node:path'
import { buildPortal } from '../../portal/build/build.ts'
import { packagesOfMetafile } from './notices.ts'

/** The modules of the portal in the package, by their names in `exports`. */
export const portalModules: Readonly<Record<string, { types: string; default: string }>> = {
  './portal': { types: './portal/portal.d.ts', default: './portal/portal.js' },
  './portal/react': { types: './portal/react.d.ts', default: './portal/react.js' },
}

/**
 * Writes the element `<outhook-portal>`, its wrapper for React and their declarations into the folder
 * `portal` of the package. Returns the folders of the packages that the element contains.
 */
export async function writePortal(root: string, out: string): Promise<string[]> {
  const folder = join(out, 'portal')
  await Deno.mkdir(folder, { recursive: true })
  const metafile = join(folder, 'metafile.json')
  const files = await buildPortal(root, undefined, metafile)
  for (
    const [from, to] of [['outhook-portal.js', 'portal.js'], ['react.js', 'react.js']] as const
  ) {
    const bytes = files.get(from)
    if (bytes !== undefined) await Deno.writeFile(join(folder, to), bytes)
  }
  for (const name of ['portal.d.ts', 'react.d.ts']) {
    // As texts in the repository: they need the types of a browser and of React.
    await Deno.copyFile(join(root, 'package/portal', `${name}.txt`), join(folder, name))
  }
  const packages = await packagesOfMetafile(root, metafile)
  await Deno.remove(metafile)
  return packages
}
