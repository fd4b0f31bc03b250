import { fileURLToPath } from 'node:url'
import { clusterPaths, removeSocket } from '../../supabase/local/postgres/cluster.ts'
import { stopLeftoverServer } from '../../supabase/local/postgres/leftover.ts'
import { tryLock } from '../../supabase/local/process/lock.ts'
import { runMark } from '../_run/leftovers.ts'

const ROOT = fileURLToPath(new URL('../../.outhook/', import.meta.url))
const HOUR_MS = 3_600_000

/**
 * A data folder path that no other test has: `.outhook/test-<random>` in the project. Within a run of
 * the tests the run's own mark stands before the random part.
 */
export function testFolder(mark: string | undefined = Deno.env.get(runMark)): string {
  return `${ROOT}${prefixOf(mark)}${crypto.randomUUID().slice(0, 13)}`
}

/** Removes the folders that a run with this mark has left, whose processes have all ended. */
export async function removeFoldersOf(mark: string): Promise<void> {
  for (const name of await testFolders()) {
    if (!name.startsWith(prefixOf(mark))) continue
    const path = `${ROOT}${name}`
    await removeSocket(clusterPaths(path))
    await Deno.remove(path, { recursive: true }).catch(() => {})
  }
}

/** Eight digits of the random mark are enough; the length of a socket path is limited. */
function prefixOf(mark: string | undefined): string {
  return mark === undefined ? 'test-' : `test-${mark.slice(0, 8)}-`
}

/**
 * Removes test folders older than an hour that nobody holds: a killed test run leaves its own
 * behind.
 */
export async function sweepTestFolders(): Promise<void> {
  for (const name of await testFolders()) {
    const path = `${ROOT}${name}`
    try {
      const { mtime } = await Deno.stat(path)
      if (mtime === null || Date.now() - mtime.getTime() < HOUR_MS) continue
      const lock = await tryLock(`${path}/postgres.lock`)
      if (lock === null) continue
      await stopLeftoverServer(`${path}/pg`)
      await Deno.remove(path, { recursive: true })
      lock.release()
    } catch (error) {
      // Another run sweeps at the same time.
      if (!(error instanceof Deno.errors.NotFound)) throw error
    }
  }
}

async function testFolders(): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(ROOT))
    return entries.map((entry) => entry.name).filter((name) => name.startsWith('test-'))
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return []
    throw error
  }
}
