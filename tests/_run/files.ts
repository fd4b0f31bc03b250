import { join, relative } from 'node:path'

/**
 * The files below `folder` (relative to `root`, which need not exist) whose names end so, as paths
 * from the root with `/`, sorted. Folders and files in `without` are left out.
 */
export async function listFiles(
  root: string,
  folder: string,
  ending: string,
  without: readonly string[] = [],
): Promise<string[]> {
  const found: string[] = []
  await walk(join(root, folder))
  return found.sort()

  async function walk(path: string): Promise<void> {
    for await (const entry of readFolder(path)) {
      const full = join(path, entry.name)
      const name = relative(root, full).replaceAll('\\', '/')
      if (without.includes(name)) continue
      if (entry.isDirectory) await walk(full)
      else if (entry.isFile && name.endsWith(ending)) found.push(name)
    }
  }
}

async function* readFolder(path: string): AsyncGenerator<Deno.DirEntry> {
  try {
    yield* Deno.readDir(path)
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error
  }
}
