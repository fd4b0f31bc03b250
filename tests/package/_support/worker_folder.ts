import { join } from 'node:path'
import type { Packed } from '../../../package/build/pack.ts'
import { buildWorker } from '../../../package/build/worker.ts'
import { npm } from '../../../supabase/local/npm_tool.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { testFolder } from '../../_support/folder.ts'
import { builtCommand } from './built.ts'
import { programPath } from './program.ts'

/** A folder of a user with the packed worker, and if asked the command. */
export interface WorkerFolder extends AsyncDisposable {
  path: string
  packed: Packed
  /** Writes a program into the folder, and returns its path. */
  write(name: string, text: string): Promise<string>
  /** Copies a program of programs/ into the folder, and returns its path. */
  copy(name: string): Promise<string>
}

/** Builds the packages and installs them in a new folder as a user does. */
export async function workerFolder({ command = false } = {}): Promise<WorkerFolder> {
  const root = testFolder()
  const dist = join(root, 'dist')
  const path = join(root, 'user')
  await Deno.mkdir(path, { recursive: true })
  await Deno.writeTextFile(join(path, 'package.json'), '{ "private": true, "type": "module" }\n')
  // Its own file, so that Deno does not use the one of the project.
  await Deno.writeTextFile(join(path, 'deno.json'), '{ "nodeModulesDir": "manual" }\n')
  const packed = await buildWorker(projectRoot, dist)
  const tarballs = [packed.tarball]
  if (command) tarballs.push(await builtCommand(root))
  await npm(['install', '--offline', '--no-audit', '--no-fund', ...tarballs], path)
  return {
    path,
    packed,
    async write(name, text): Promise<string> {
      await Deno.writeTextFile(join(path, name), text)
      return join(path, name)
    },
    async copy(name): Promise<string> {
      await Deno.copyFile(programPath(name), join(path, name))
      return join(path, name)
    },
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  }
}
