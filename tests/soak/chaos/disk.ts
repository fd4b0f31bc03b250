import { join } from 'node:path'
import { tryLock } from '../../../supabase/local/process/lock.ts'

/** A folder that the adversary can fill: a file system of its own in memory, which only root can make. */
export interface Disk extends AsyncDisposable {
  readonly path: string
  /** Whether `fill` is possible. */
  readonly isOwn: boolean
  /** Leaves no free space. */
  fill(): Promise<void>
  /** Gives the space back. */
  free(): Promise<void>
}

const WHOLE = '3g'
const PREFIX = 'outhook-chaos-'
const LOCK = 'chaos.lock'
/** A younger one may not have its lock yet. */
const YOUNG_MS = 60_000

/** Makes an empty one below the folder for temporary files. */
export async function makeDisk(whole = WHOLE): Promise<Disk> {
  const path = await Deno.makeTempDir({ prefix: PREFIX })
  await removeOthers(join(path, '..'))
  const isOwn = Deno.build.os === 'linux' && Deno.uid() === 0 &&
    await succeeds('mount', '-t', 'tmpfs', '-o', `size=${whole},mode=0755`, 'outhook-chaos', path)
  const lock = await tryLock(join(path, LOCK))

  async function fill(): Promise<void> {
    // The bound of a tmpfs may be what it holds now. What grows meanwhile makes the first try fail.
    for (let spare = 0; spare < 64; spare += 4) {
      if (await succeeds('mount', '-o', `remount,size=${await used() + spare}m`, path)) return
    }
  }

  async function used(): Promise<number> {
    const { stdout } = await new Deno.Command('df', { args: ['-m', '--output=used', path] })
      .output()
    return Number(new TextDecoder().decode(stdout).trim().split('\n').at(-1))
  }

  return {
    path,
    isOwn,
    fill,
    free: async () => void await succeeds('mount', '-o', `remount,size=${whole}`, path),
    [Symbol.asyncDispose]: async () => {
      lock?.release()
      await remove(path)
    },
  }
}

/** Removes those that a killed run has left. */
async function removeOthers(folder: string): Promise<void> {
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(folder, name)
    const { birthtime } = await Deno.stat(path).catch(() => ({ birthtime: null }))
    if (birthtime === null || Date.now() - birthtime.getTime() < YOUNG_MS) continue
    const lock = await tryLock(join(path, LOCK))
    if (lock === null) continue
    lock.release()
    await remove(path)
  }
}

async function remove(path: string): Promise<void> {
  await succeeds('umount', '--lazy', path)
  await Deno.remove(path, { recursive: true }).catch(() => {})
}

async function succeeds(command: string, ...args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command(command, { args, stderr: 'null' }).output()
    .catch(() => ({ success: false }))
  return success
}
