import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** The start of the paths in /dev/shm, the file system in memory, which other programs use too. */
export const MEMORY = '/dev/shm/outhook-'

/** The file system type in `statfs` (linux/magic.h). */
const TMPFS = 0x01021994

/** A stack needs about 100 MB, and the largest test 2 GB. */
const NEEDED = 8 * 1024 ** 3

/** What the machine has for folders in memory, in bytes. */
export interface MemoryRoom {
  /** The type of the file system. */
  type: number
  /** How much may still be written to it. */
  free: number
  /** How much memory programs may still take. */
  available: number
}

/**
 * How the paths of a run's databases begin if they are in memory; null: they are on the disk. Only `task test` has a
 * mark and runs nothing but tests: what measures (`task bench`) or takes hours (`task soak`) uses the disk, as users do.
 */
export function memoryRoot(
  mark: string | undefined,
  room: () => MemoryRoom | null = roomHere,
): string | null {
  if (mark === undefined || Deno.env.get('OUTHOOK_SOAK') !== undefined) return null
  const there = room()
  return there !== null && isRoomy(there) ? MEMORY : null
}

/** In a container with the usual 64 MB for it, and on a small machine, there is no room. */
function isRoomy({ type, free, available }: MemoryRoom): boolean {
  return type === TMPFS && free >= NEEDED && available >= NEEDED
}

/** What a container with a limit may still take, in bytes: its files in memory count as its memory. */
export function leftOfGroup(read: (path: string) => string): number {
  try {
    // The text "max" is no limit.
    const limit = Number(read('/sys/fs/cgroup/memory.max'))
    const left = limit - Number(read('/sys/fs/cgroup/memory.current'))
    return Number.isNaN(left) ? Infinity : left
  } catch {
    // Another version of cgroups, or none.
    return Infinity
  }
}

function roomHere(): MemoryRoom | null {
  if (Deno.build.os !== 'linux') return null
  try {
    const { type, bavail, bsize } = statfsSync(dirname(MEMORY))
    const available = Math.min(
      Deno.systemMemoryInfo().available,
      leftOfGroup(Deno.readTextFileSync),
    )
    return { type, free: bavail * bsize, available }
  } catch {
    // There is no such folder.
    return null
  }
}
