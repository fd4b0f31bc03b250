import { join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'

/** Files whose text is not ours to judge. */
const generated = /^supabase\/migrations\/|^functions\/_shared\/database\/database\.types\.ts$/

/**
 * The project's files as paths from its root: those that Git tracks or would track, without those
 * that are generated. Throws when Git cannot tell.
 */
export async function projectFiles(): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command('git', {
    args: ['ls-files', '--cached', '--others', '--exclude-standard'],
    cwd: projectRoot,
  }).output()
  if (!success) throw new Error(`Cannot list files: ${new TextDecoder().decode(stderr)}`)
  const paths = new TextDecoder().decode(stdout).split('\n').filter((path) => path !== '')
  return [...new Set(paths)].filter((path) => !generated.test(path)).sort()
}

/** A file's text, or null when it has just been removed. */
export async function readProjectFile(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(join(projectRoot, path))
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null
    throw error
  }
}
