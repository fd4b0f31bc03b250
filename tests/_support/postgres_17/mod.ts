/**
 * PostgreSQL 17 with pg_cron 1.6, for a machine that has another one. It is unpacked from the packages of
 * Debian 13 into `.outhook/postgres-17` at the first use. PostgreSQL finds its extensions and its data beside
 * its programs, so it runs there without a chroot.
 */

import { join } from 'node:path'
import { messageOf, SetupError } from '../../../supabase/local/errors.ts'
import { findPostgres } from '../../../supabase/local/postgres/binaries.ts'
import { tryLock, waitForLock } from '../../../supabase/local/process/lock.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { unpackPackages } from './packages.ts'
import { relocate } from './relocate.ts'

const folder = join(projectRoot, '.outhook', 'postgres-17')

const bin = 'usr/lib/postgresql/17/bin'

const packages = [
  'postgresql-17',
  'postgresql-17-cron',
  'postgresql-17-pgtap',
  'postgresql-17-plpgsql-check',
  'patchelf',
]

/** Packages that no program here needs: LLVM, Perl and all that is no library. */
const without = /^(?!lib|postgresql-(client-)?17|patchelf)|^lib(llvm|z3|perl|icu-dev)/

/**
 * Makes sure that it is there, and returns the folder of its programs: the installed one if it has all
 * extensions of the tests, else the unpacked one. Linux with apt only. Throws a SetupError with the reason.
 */
export async function postgres17({ log }: { log: (line: string) => void }): Promise<string> {
  const installed = await findPostgres()
  if (installed?.major === 17 && installed.missing.length === 0) return installed.bin
  await Deno.mkdir(join(projectRoot, '.outhook'), { recursive: true })
  const lock = await tryLock(`${folder}.lock`) ?? await waitForLock(`${folder}.lock`)
  try {
    if (!await runs(join(folder, bin))) await make(log)
  } finally {
    lock.release()
  }
  if (!await runs(join(folder, bin))) {
    throw new SetupError(
      `PostgreSQL 17 does not run from ${folder}: remove this folder and try again`,
    )
  }
  return join(folder, bin)
}

/** Whether it is complete: in a project that was moved, the programs look for their old folder. */
async function runs(programs: string): Promise<boolean> {
  try {
    const ended = await new Deno.Command(`${programs}/postgres`, {
      args: ['--version'],
      stdout: 'null',
      stderr: 'null',
    }).output()
    return ended.success
  } catch {
    return false
  }
}

async function make(log: (line: string) => void): Promise<void> {
  log('unpacking PostgreSQL 17 from the packages of Debian 13 (45 MB, once)')
  const [draft, work] = [`${folder}.draft`, `${folder}.work`]
  for (const path of [draft, work, folder]) {
    await Deno.remove(path, { recursive: true }).catch(() => {})
  }
  try {
    await Deno.mkdir(draft)
    await Deno.mkdir(work)
    await unpackPackages({ packages, without, folder: work, target: draft })
    await relocate({ draft, folder, bin })
    await Deno.rename(draft, folder)
  } catch (error) {
    throw new SetupError(`Cannot make PostgreSQL 17 for the tests: ${messageOf(error)}`)
  } finally {
    await Deno.remove(work, { recursive: true })
  }
}
