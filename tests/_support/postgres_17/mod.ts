/**
 * PostgreSQL 17 with pg_cron 1.6 from Debian 13's packages, for a machine that has another Debian. It is
 * made once, in `.outhook/postgres-17`, and runs without a chroot.
 */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tryLock, waitForLock } from '../../../supabase/local/process/lock.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { type Log, openDebianRoot } from '../debian_root/mod.ts'

const folder = join(projectRoot, '.outhook', 'postgres-17')

const packages = [
  'postgresql-17',
  'postgresql-17-cron',
  'postgresql-17-pgtap',
  'postgresql-17-plpgsql-check',
  'patchelf',
]

/** Makes sure that it is there, and returns the folder of its programs. Root on Linux only. */
export async function postgres17({ log }: { log: Log }): Promise<string> {
  const bin = join(folder, 'usr/lib/postgresql/17/bin')
  await Deno.mkdir(join(projectRoot, '.outhook'), { recursive: true })
  const lock = await tryLock(`${folder}.lock`) ?? await waitForLock(`${folder}.lock`)
  try {
    if (!await runs(bin)) await make(log)
  } finally {
    lock.release()
  }
  if (!await runs(bin)) throw new Error(`PostgreSQL 17 does not run from ${bin}`)
  return bin
}

/** Whether it is there and whole: a project that was moved has programs that look for their old place. */
async function runs(bin: string): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(`${bin}/postgres`, {
      args: ['--version'],
      stdout: 'null',
      stderr: 'null',
    }).output()
    return success
  } catch {
    return false
  }
}

async function make(log: Log): Promise<void> {
  log('making PostgreSQL 17 of the packages of Debian 13')
  const draft = `${folder}.draft`
  for (const path of [draft, folder]) await Deno.remove(path, { recursive: true }).catch(() => {})
  await Deno.mkdir(draft)
  await using root = await openDebianRoot({ suite: 'trixie', packages, log })
  const script = await Deno.readTextFile(fileURLToPath(new URL('collect.sh', import.meta.url)))
  const { code, output } = await root.run(['sh', '-c', script, 'collect.sh', folder], {
    binds: [[draft, '/out']],
  })
  if (code !== 0) throw new Error(`Cannot collect PostgreSQL 17:\n${output.trim().slice(-2000)}`)
  await Deno.rename(draft, folder)
}
