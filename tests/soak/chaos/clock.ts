/** A clock that a test moves, for a process and its children, by Debian's package libfaketime. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = '/usr/lib/x86_64-linux-gnu/faketime'

/** Whether this machine has libfaketime. */
export const canMoveClocks = existsSync(`${FOLDER}/libfaketime.so.1`) &&
  existsSync(`${FOLDER}/libfaketimeMT.so.1`)

/** The clock of the processes that start with `env`. */
export interface Clock {
  readonly env: Readonly<Record<string, string>>
  /** How far it is ahead of the machine's, in seconds; below 0: behind. */
  set(seconds: number): Promise<void>
  remove(): Promise<void>
}

/** The objects of libfaketime 0.9.10: each process has two, named by its id, which stay if it is killed. */
const OBJECTS = '/dev/shm'

/**
 * Removes those of processes that have ended. A process of another user that gets the same id could not open
 * them, and libfaketime ends it.
 */
export async function removeLeftObjects(): Promise<void> {
  for await (const { name } of Deno.readDir(OBJECTS)) {
    const id = /^(?:sem\.)?faketime_(?:sem|shm)_(\d+)$/.exec(name)?.[1]
    if (id === undefined || existsSync(`/proc/${id}`)) continue
    // Those of another user stay, and another copy may remove them at the same time.
    await Deno.remove(join(OBJECTS, name)).catch(() => {})
  }
}

/**
 * Makes one. `threads`: whether its processes have threads, which then see a move within a second. Without
 * threads, as in Postgres, all processes see it at once.
 */
export async function makeClock({ threads }: { threads: boolean }): Promise<Clock> {
  await removeLeftObjects()
  const folder = await Deno.makeTempDir({ prefix: 'outhook-clock-' })
  // The server is another user.
  await Deno.chmod(folder, 0o755)
  const file = join(folder, 'clock')
  const set = async (seconds: number): Promise<void> => {
    const next = `${file}.next`
    await Deno.writeTextFile(next, `${seconds < 0 ? '' : '+'}${seconds}s\n`, { mode: 0o644 })
    // Nobody reads half of it.
    await Deno.rename(next, file)
  }
  await set(0)
  return {
    env: {
      LD_PRELOAD: `${FOLDER}/${threads ? 'libfaketimeMT' : 'libfaketime'}.so.1`,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      ...threads ? { FAKETIME_CACHE_DURATION: '1' } : { FAKETIME_NO_CACHE: '1' },
    },
    set,
    async remove(): Promise<void> {
      await Deno.remove(folder, { recursive: true })
      await removeLeftObjects()
    },
  }
}
