import { join } from 'node:path'
import { buildCommand } from '../../../package/build/command.ts'
import { buildFunctions } from '../../../package/build/functions.ts'
import { exists } from '../../../supabase/local/exists.ts'
import { waitForLock } from '../../../supabase/local/process/lock.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { runFolder } from '../../_support/folder.ts'

/**
 * Puts the tarball of the command into `folder`, and returns its path. A run of the tests builds it once, because a
 * build takes 10 s of CPU time and a dozen files need one. A file that runs by itself builds its own.
 */
export async function builtCommand(folder: string): Promise<string> {
  const shared = runFolder('command')
  if (shared === null) return await build(join(folder, 'dist'))
  await Deno.mkdir(shared, { recursive: true })
  const lock = await waitForLock(join(shared, 'lock'))
  try {
    const whole = join(shared, 'command.tgz')
    if (!await exists(whole)) {
      const dist = join(shared, 'dist')
      await Deno.rename(await build(dist), whole)
      await Deno.remove(dist, { recursive: true })
    }
    await Deno.mkdir(folder, { recursive: true })
    const tarball = join(folder, 'command.tgz')
    await Deno.copyFile(whole, tarball)
    return tarball
  } finally {
    lock.release()
  }
}

async function build(out: string): Promise<string> {
  await buildFunctions(projectRoot, out)
  return (await buildCommand(projectRoot, out)).tarball
}
