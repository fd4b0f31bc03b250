import { dirname, join } from 'node:path'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from './folder.ts'

/**
 * Copies what the Supabase CLI reads of the project into a folder of the test's own, so that the
 * CLI's scratch files of two runs never meet. Disposing of it removes the folder.
 */
export async function copyProject(): Promise<AsyncDisposable & { readonly root: string }> {
  const root = testFolder()
  for (
    const name of ['supabase/config.toml', 'supabase/seed.sql', 'deno.json', 'import_map.json']
  ) {
    await copyFile(name)
  }
  for (const folder of ['supabase/migrations', 'functions']) await copyFolder(folder)
  await Deno.mkdir(join(root, 'supabase/functions'), { recursive: true })
  return { root, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) }

  async function copyFile(name: string): Promise<void> {
    const target = join(root, name)
    await Deno.mkdir(dirname(target), { recursive: true })
    await Deno.copyFile(join(projectRoot, name), target)
  }

  async function copyFolder(name: string): Promise<void> {
    for await (const entry of Deno.readDir(join(projectRoot, name))) {
      const path = `${name}/${entry.name}`
      if (entry.isDirectory) await copyFolder(path)
      else if (entry.isFile) await copyFile(path)
    }
  }
}
