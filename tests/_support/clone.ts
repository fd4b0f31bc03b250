import { dirname, join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'

/**
 * Copies the project into `folder` as a clone would have it: the files that Git tracks or would track,
 * from the working tree. What a test needs changed it changes there.
 */
export async function cloneProject(folder: string): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command('git', {
    args: ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    cwd: projectRoot,
  }).output()
  if (!success) throw new Error(`Cannot list files: ${new TextDecoder().decode(stderr)}`)
  const paths = new Set(new TextDecoder().decode(stdout).split('\0').filter((path) => path !== ''))
  const folders = new Set([...paths].map((path) => dirname(join(folder, path))))
  for (const one of folders) await Deno.mkdir(one, { recursive: true })
  for (const path of paths) {
    // Git still lists a file that has just been removed.
    await Deno.copyFile(join(projectRoot, path), join(folder, path)).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error
    })
  }
}
