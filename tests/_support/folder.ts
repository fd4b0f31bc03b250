import { fileURLToPath } from 'node:url'
import { MEMORY, memoryRoot } from './memory_folder.ts'
import { clusterPaths, removeSocket } from '../../supabase/local/postgres/cluster.ts'
import { stopLeftoverServer } from '../../supabase/local/postgres/leftover.ts'
import { tryLock } from '../../supabase/local/process/lock.ts'
import { runMark } from '../_run/leftovers.ts'

const DISK = fileURLToPath(new URL('../../.outhook/', import.meta.url))
const PREFIX = 'test-'
const HOUR_MS = 3_600_000

/**
 * A data folder path that no other test has: `.outhook/test-<random>` in the project. Within a run of
 * the tests the run's own mark stands before the random part.
 */
export function testFolder(mark: string | undefined = Deno.env.get(runMark)): string {
  return `${DISK}${nameOf(mark)}`
}

/**
 * The same for a database: a file system in memory if the run has one (`memoryRoot()`), because a copy of a
 * cluster costs a third of the CPU time there. It cannot be renamed into the project's folder.
 */
export function databaseFolder(mark: string | undefined = Deno.env.get(runMark)): string {
  return `${memoryRoot(mark) ?? DISK}${nameOf(mark)}`
}

/** The folder of this name that all parts of the run share; null outside of a run. It is removed at its end. */
export function runFolder(name: string): string | null {
  const mark = Deno.env.get(runMark)
  return mark === undefined ? null : `${DISK}${prefixOf(mark)}${name}`
}

/** Removes the folders that a run with this mark has left, whose processes have all ended. */
export async function removeFoldersOf(mark: string): Promise<void> {
  for (const path of await testFolders()) {
    if (![DISK, MEMORY].some((root) => path.startsWith(root + prefixOf(mark)))) continue
    await removeSocket(clusterPaths(path))
    await Deno.remove(path, { recursive: true }).catch(() => {})
  }
}

function nameOf(mark: string | undefined): string {
  return prefixOf(mark) + crypto.randomUUID().slice(0, 13)
}

/** Eight digits of the random mark are enough; the length of a socket path is limited. */
function prefixOf(mark: string | undefined): string {
  return mark === undefined ? PREFIX : `${PREFIX}${mark.slice(0, 8)}-`
}

/**
 * Removes test folders older than an hour that nobody holds: a killed test run leaves its own
 * behind.
 */
export async function sweepTestFolders(): Promise<void> {
  for (const path of await testFolders()) {
    try {
      const { mtime } = await Deno.stat(path)
      if (mtime === null || Date.now() - mtime.getTime() < HOUR_MS) continue
      const lock = await tryLock(`${path}/postgres.lock`)
      if (lock === null) continue
      await stopLeftoverServer(`${path}/pg`)
      await Deno.remove(path, { recursive: true })
      lock.release()
    } catch (error) {
      // Another run sweeps at the same time, or in memory the folder is another user's.
      const { NotFound, PermissionDenied } = Deno.errors
      if (!(error instanceof NotFound || error instanceof PermissionDenied)) throw error
    }
  }
}

/** The paths of all test folders, on the disk and in memory. */
async function testFolders(): Promise<string[]> {
  const paths: string[] = []
  for (const root of [DISK, MEMORY]) {
    const [folder, start] = [root.slice(0, root.lastIndexOf('/') + 1), root + PREFIX]
    try {
      for await (const { name } of Deno.readDir(folder)) {
        if (`${folder}${name}`.startsWith(start)) paths.push(`${folder}${name}`)
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error
    }
  }
  return paths
}
