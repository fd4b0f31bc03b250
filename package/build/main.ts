/** `deno task package`: builds the npm package into dist/. */

import { join, relative } from 'node:path'
import { runCommand } from '../../supabase/local/command.ts'
import { print } from '../../supabase/local/print.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { buildCommand } from './command.ts'
import { buildFunctions } from './functions.ts'
import type { Packed } from './pack.ts'
import { buildPackage } from './package.ts'
import { buildWorker } from './worker.ts'

const help =
  `Build the npm packages outhook, outhook-worker, outhook-functions and outhook-command into dist/, as
folders and tarballs, and a folder for each edge function that a project can copy.

  npx -y deno@2.9.6 task package

  --help  show this

It publishes nothing: docs/release.md has the steps of a release.`

async function run(): Promise<number> {
  const out = join(projectRoot, 'dist')
  list(await buildPackage(projectRoot, out, print))
  const { packed, folders } = await buildFunctions(projectRoot, out)
  list(packed)
  list(await buildWorker(projectRoot, out))
  list(await buildCommand(projectRoot, out))
  for (const path of folders) print(`wrote ${relative(projectRoot, join(out, path))}`)
  return 0
}

function list({ files, size, tarball }: Packed): void {
  for (const file of files) print(`${kilobytes(file.size)}  ${file.path}`)
  print(`${kilobytes(size)}  ${relative(projectRoot, tarball)}`)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1).padStart(8)} kB`
}

export const main = (): Promise<never> => runCommand({ help, flags: {}, run })

if (import.meta.main) await main()
