/** Makes programs of unpacked packages run where they are, on a system with older libraries. */

import { join } from 'node:path'
import { output } from '../debian_root/mirror.ts'

/**
 * Sets the programs in `bin` of `draft` to the loader and the libraries of `folder`, to which `draft`
 * is renamed afterwards. Both paths are absolute; `bin` is relative. `draft` has the package patchelf.
 */
export async function relocate(
  { draft, folder, bin }: { draft: string; folder: string; bin: string },
): Promise<void> {
  const libraries = await libraryFolder(draft)
  const loader = await nameLike(join(draft, libraries), /^ld-linux-.*\.so\.\d+$/)
  // patchelf runs by the loader of its own Debian, too.
  const run = [
    '--library-path',
    join(draft, libraries),
    join(draft, 'usr/bin/patchelf'),
    '--set-interpreter',
    join(folder, libraries, loader),
    '--force-rpath',
    '--set-rpath',
    join(folder, libraries),
  ]
  for await (const { name, isFile } of Deno.readDir(join(draft, bin))) {
    const program = join(draft, bin, name)
    if (isFile && await isElf(program)) {
      await output(join(draft, libraries, loader), [...run, program])
    }
  }
}

/** Such as usr/lib/x86_64-linux-gnu. */
async function libraryFolder(draft: string): Promise<string> {
  return `usr/lib/${await nameLike(join(draft, 'usr/lib'), /-linux-gnu/)}`
}

async function nameLike(folder: string, pattern: RegExp): Promise<string> {
  for await (const { name } of Deno.readDir(folder)) {
    if (pattern.test(name)) return name
  }
  throw new Error(`There is no ${pattern.source} in ${folder}`)
}

async function isElf(path: string): Promise<boolean> {
  using file = await Deno.open(path)
  const head = new Uint8Array(4)
  await file.read(head)
  return new TextDecoder().decode(head) === '\x7fELF'
}
