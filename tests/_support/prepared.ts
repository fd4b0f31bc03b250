/** Clusters that are made once and copied: a copy takes a fraction of what making one takes. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import postgres from 'postgres'
import { migrate, readMigrations } from '../../supabase/local/database/migrate.ts'
import { exists } from '../../supabase/local/exists.ts'
import { ensurePostgres, startPostgres } from '../../supabase/local/postgres/mod.ts'
import { tryLock, waitForLock } from '../../supabase/local/process/lock.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { testFolder } from './folder.ts'

/** What a prepared cluster holds: the platform alone, or the migrations too, without the seed. */
export type Prepared = 'platform' | 'migrations'

const HOME = join(projectRoot, '.outhook/prepared')
const HOUR_MS = 3_600_000

/** All files that a cluster is made from, as paths from the project's root. */
const SOURCES = [
  'supabase/local/platform',
  'supabase/local/postgres',
  'supabase/local/database',
  'supabase/migrations',
]

/** The parts of a data folder to copy: not the log, the socket and the locks. */
const PARTS = ['pg', 'vault.key']

/**
 * Makes the cluster in `dataDir`, which must be empty, by copying a prepared one. The first caller for a
 * content prepares it, while the others wait. All copies have the same vault key and system identifier;
 * a test that needs different ones makes its own cluster.
 */
export async function copyPrepared(dataDir: string, kind: Prepared): Promise<void> {
  const name = `${kind}-${await contentHash()}`
  const folder = join(HOME, name)
  await Deno.mkdir(HOME, { recursive: true })
  // The lock keeps the folder from being removed during the copy.
  using lock = await sharedLock(`${folder}.lock`)
  if (!await exists(folder)) {
    lock[Symbol.dispose]()
    const making = await waitForLock(`${folder}.making.lock`)
    try {
      if (!await exists(folder)) await make(folder, kind)
    } finally {
      making.release()
    }
    await removeOthers(name)
    return await copyPrepared(dataDir, kind)
  }
  await Deno.mkdir(dataDir, { recursive: true })
  await copy(PARTS.map((part) => join(folder, part)), dataDir)
}

/** The key includes the day, because partitions are made for the days after the migration. */
async function contentHash(): Promise<string> {
  const hash = createHash('sha256')
  const { bin, platform } = await ensurePostgres({ log: () => {} })
  const { stdout } = await new Deno.Command(`${bin}/postgres`, { args: ['--version'] }).output()
  hash.update(stdout).update(platform.join()).update(new Date().toISOString().slice(0, 10))
  for (const source of SOURCES) {
    const entries = await Array.fromAsync(Deno.readDir(join(projectRoot, source)))
    for (const name of entries.map((entry) => entry.name).sort()) {
      hash.update(`\0${name}\0`).update(await Deno.readFile(join(projectRoot, source, name)))
    }
  }
  return hash.digest('hex').slice(0, 16)
}

/** Makes it in a test folder, which is removed if this process dies, and renames it when it is complete. */
async function make(folder: string, kind: Prepared): Promise<void> {
  const draft = testFolder()
  try {
    const pg = await startPostgres({ dataDir: draft, port: 'free', fsync: false })
    try {
      if (kind === 'migrations') await applyMigrations(pg.dbUrl)
    } finally {
      await pg.stop()
    }
    await dropSpareLog(pg.binaries.bin, join(draft, 'pg'))
    const whole = join(draft, 'whole')
    await Deno.mkdir(whole)
    for (const part of PARTS) await Deno.rename(join(draft, part), join(whole, part))
    await Deno.rename(whole, folder)
  } finally {
    await Deno.remove(draft, { recursive: true })
  }
}

async function applyMigrations(dbUrl: string): Promise<void> {
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {} })
  try {
    await migrate(sql, await readMigrations(join(projectRoot, 'supabase/migrations')))
  } finally {
    await sql.end()
  }
}

/** A stopped server needs only the segment of its last checkpoint; each segment has 16 MB. */
async function dropSpareLog(bin: string, data: string): Promise<void> {
  const { stdout } = await new Deno.Command(`${bin}/pg_controldata`, { args: [data] }).output()
  const needed = /REDO WAL file: *([0-9A-F]{24})/.exec(new TextDecoder().decode(stdout))?.[1]
  if (needed === undefined) throw new Error(`pg_controldata names no segment of ${data}`)
  for await (const { name, isFile } of Deno.readDir(join(data, 'pg_wal'))) {
    if (isFile && /^[0-9A-F]{24}$/.test(name) && name !== needed) {
      await Deno.remove(join(data, 'pg_wal', name))
    }
  }
}

/** Removes clusters of other contents, unless they are being copied or are younger than an hour. */
async function removeOthers(kept: string): Promise<void> {
  const suffix = kept.slice(kept.indexOf('-'))
  for (const { name, isDirectory } of await Array.fromAsync(Deno.readDir(HOME))) {
    if (!isDirectory || name.endsWith(suffix)) continue
    const folder = join(HOME, name)
    const { mtime } = await Deno.stat(folder).catch(() => ({ mtime: null }))
    if (mtime === null || Date.now() - mtime.getTime() < HOUR_MS) continue
    const lock = await tryLock(`${folder}.lock`)
    if (lock === null) continue
    await Deno.remove(folder, { recursive: true }).catch(() => {})
    lock.release()
  }
}

async function sharedLock(path: string): Promise<Disposable> {
  const file = await Deno.open(path, { create: true, read: true, write: true })
  await file.lock(false)
  let open = true
  return {
    [Symbol.dispose]: () => {
      if (open) file.close()
      open = false
    },
  }
}

/**
 * Copies with owner and modes, because the files belong to the server's user; sparse, because most of
 * the log's 16 MB is zeros.
 */
async function copy(from: string[], to: string): Promise<void> {
  const sparse = Deno.build.os === 'linux' ? ['--sparse=always'] : []
  const args = ['-a', ...sparse, ...from, to]
  const { success, stderr } = await new Deno.Command('cp', { args }).output()
  if (!success) throw new Error(`cp failed: ${new TextDecoder().decode(stderr).trim()}`)
}
