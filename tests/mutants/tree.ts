import { basename, dirname, join } from 'node:path'
import { tryLock } from '../../supabase/local/process/lock.ts'

/** A copy of the project in which one file at a time is another. Disposing of it removes the copy. */
export interface Tree extends AsyncDisposable {
  readonly root: string
  /** Writes files, as paths from the root; the result puts back what was there. */
  change(files: ReadonlyMap<string, string>): Promise<() => Promise<void>>
}

const copied = [
  'console',
  'consumer',
  'docs',
  'functions',
  'package',
  'portal',
  'sql',
  'supabase',
  'tests',
]

/** Copies the project at `root` to `.outhook/mutants-<random>/`, and removes copies that nobody uses. */
export async function copyTree(root: string): Promise<Tree> {
  const home = join(root, '.outhook')
  await Deno.mkdir(home, { recursive: true })
  await sweep(home)
  // It gets the name that sweep() looks for when its lock is held: a second run sweeps meanwhile.
  const draft = await Deno.makeTempDir({ dir: home, prefix: 'new-mutants-' })
  await Deno.chmod(draft, 0o755)
  const lock = await tryLock(join(draft, 'lock'))
  const folder = join(home, basename(draft).replace('new-', ''))
  await Deno.rename(draft, folder)
  const target = join(folder, 'tree')
  const dispose = async (): Promise<void> => {
    lock?.release()
    await Deno.remove(folder, { recursive: true })
  }
  try {
    await Deno.mkdir(join(target, '.outhook'), { recursive: true })
    for (const name of copied) await copyFolder(root, target, name)
    for await (const entry of Deno.readDir(root)) {
      // In a work tree of Git, `.git` is a file that names the repository of another folder.
      if (!entry.isFile || entry.name === '.git') continue
      await Deno.copyFile(join(root, entry.name), join(target, entry.name))
    }
    await beRepository(target)
    const tools = join(home, 'tools')
    if (await isThere(tools)) await Deno.symlink(tools, join(target, '.outhook/tools'))
  } catch (error) {
    await dispose()
    throw error
  }
  return { root: target, change, [Symbol.asyncDispose]: dispose }

  async function change(files: ReadonlyMap<string, string>): Promise<() => Promise<void>> {
    const before = new Map<string, string | null>()
    for (const [path, text] of files) {
      const full = join(target, path)
      before.set(full, await isThere(full) ? await Deno.readTextFile(full) : null)
      await Deno.writeTextFile(full, text)
    }
    return async () => {
      for (const [full, text] of before) {
        if (text === null) await Deno.remove(full)
        else await Deno.writeTextFile(full, text)
      }
    }
  }
}

async function copyFolder(from: string, to: string, name: string): Promise<void> {
  for await (const entry of Deno.readDir(join(from, name))) {
    const path = join(name, entry.name)
    if (entry.isDirectory && entry.name !== 'results') await copyFolder(from, to, path)
    if (!entry.isFile) continue
    await Deno.mkdir(dirname(join(to, path)), { recursive: true })
    await Deno.copyFile(join(from, path), join(to, path))
  }
}

/** Tests of the start clone the project with Git, which lists the files that it would track. */
async function beRepository(folder: string): Promise<void> {
  const { success, stderr } = await new Deno.Command('git', { args: ['init', '--quiet', folder] })
    .output()
  if (!success) throw new Error(`git init failed: ${new TextDecoder().decode(stderr)}`)
}

/** A killed run leaves its copy behind, whose lock is free. */
async function sweep(home: string): Promise<void> {
  const names = (await Array.fromAsync(Deno.readDir(home))).map((entry) => entry.name)
  for (const name of names.filter((one) => one.startsWith('mutants-'))) {
    const lock = await tryLock(join(home, name, 'lock'))
    if (lock === null) continue
    lock.release()
    await Deno.remove(join(home, name), { recursive: true })
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path)
    return true
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false
    throw error
  }
}
