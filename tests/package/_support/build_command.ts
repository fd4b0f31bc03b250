import { join } from 'node:path'
import { buildCommand } from '../../../package/build/command.ts'
import { buildFunctions } from '../../../package/build/functions.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

/**
 * Builds the command of the project at `root` into the folder `out` by the code of that project, whose version
 * may be another one, and returns the tarball.
 */
export async function buildCommandOf(root: string, out: string, version: string): Promise<string> {
  await Deno.mkdir(out, { recursive: true })
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...['run', '-A', '--cached-only', '--no-check'],
      ...['tests/package/_support/build_command.ts', out],
    ],
    cwd: root,
    stdin: 'null',
  }).output()
  if (!success) throw new Error(new TextDecoder().decode(stderr))
  return join(out, `outhook-command-${version}.tgz`)
}

if (import.meta.main) {
  const [out = join(projectRoot, 'dist')] = Deno.args
  await buildFunctions(projectRoot, out)
  await buildCommand(projectRoot, out)
}
