import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** How paths begin in the file system in memory that Linux has for programs: others use it, too. */
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
 * mark and tests alone: what measures (`task bench`) or takes hours (`task soak`) uses the disk, as users do.
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

function roomHere(): MemoryRoom | null {
  if (Deno.build.os !== 'linux') return null
  try {
    const { type, bavail, bsize } = statfsSync(dirname(MEMORY))
    const available = Math.min(Deno.systemMemoryInfo().available, groupRoom())
    return { type, free: bavail * bsize, available }
  } catch {
    // There is no such folder.
    return null
  }
}

/** How much memory the limit of a container leaves (cgroup v2), in bytes. */
function groupRoom(): number {
  const read = (name: string): number =>
    Number(Deno.readTextFileSync(`/sys/fs/cgroup/memory.${name}`))
  try {
    const room = read('max') - read('current')
    // "max": there is no limit.
    return Number.isNaN(room) ? Infinity : room
  } catch {
    return Infinity
  }
}
