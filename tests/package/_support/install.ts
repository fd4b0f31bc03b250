import { join } from 'node:path'
import type { Packed } from '../../../package/build/pack.ts'
import { buildPackage } from '../../../package/build/package.ts'
import { npm } from '../../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { receiverPackages } from '../../_run/tools.ts'
import { docsBlock } from '../../project/_docs.ts'
import { testFolder } from '../../_support/folder.ts'
import { programPath } from './program.ts'

/** A folder of a user, with the packed package installed. */
export interface UserFolder extends AsyncDisposable {
  path: string
  packed: Packed
}

/** The programs of the page, by the names of their blocks. */
export const programs = [
  'package-publish.mjs',
  'package-publish-next.mjs',
  'package-publish-deno.ts',
  'package-node.mjs',
  'package-next.mjs',
  'package-express.mjs',
  'package-store.mjs',
  'package-bun.mjs',
  'package-deno.ts',
] as const

/**
 * Builds the package, installs the tarball in a new folder as a user does, and writes the programs of
 * the page there. Express and postgres are linked: a test fetches nothing.
 */
export async function userFolder(): Promise<UserFolder> {
  const root = testFolder()
  const path = join(root, 'user')
  const packed = await buildPackage(projectRoot, join(root, 'dist'))
  await Deno.mkdir(path, { recursive: true })
  await Deno.writeTextFile(join(path, 'package.json'), '{ "private": true, "type": "module" }\n')
  // Its own file, so that Deno does not use the one of the project.
  await Deno.writeTextFile(join(path, 'deno.json'), '{ "nodeModulesDir": "manual" }\n')
  await npm(['install', '--offline', '--no-audit', '--no-fund', packed.tarball], path)
  const others = await receiverPackages(projectRoot)
  for (const name of ['express', 'postgres']) {
    await Deno.symlink(join(others, name), join(path, 'node_modules', name))
  }
  for (const name of programs) await Deno.writeTextFile(join(path, name), docsBlock(name))
  await Deno.copyFile(programPath('next_server.mjs'), join(path, 'serve-route.mjs'))
  return {
    path,
    packed,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  }
}
