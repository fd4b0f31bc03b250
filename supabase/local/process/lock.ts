import { SetupError } from '../errors.ts'

/** A locked file. The kernel releases the lock when the process ends. */
export interface Lock {
  /** Releases the lock; a second call has no effect. */
  release(): void
}

/**
 * Locks the file at `path` (created if absent); null if another process has the lock. The file contains
 * the owner's pid, for messages only.
 */
export async function tryLock(path: string): Promise<Lock | null> {
  const file = await open(path)
  if (!await file.tryLock(true)) {
    file.close()
    return null
  }
  await noteHolder(file)
  return held(file)
}

/** Like `tryLock()`, but waits until the lock is free. */
export async function waitForLock(path: string): Promise<Lock> {
  const file = await open(path)
  await file.lock(true)
  await noteHolder(file)
  return held(file)
}

/**
 * Locks `<folder>/<name>.lock` for a stack or a server with its files in `folder`. Throws a SetupError that
 * names the other process if it is locked.
 */
export async function lockFolder(folder: string, name: string): Promise<Lock> {
  const path = `${folder}/${name}.lock`
  const lock = await tryLock(path)
  if (lock !== null) return lock
  throw new SetupError(
    `${folder} is in use by another copy of this stack (pid ${await lockHolder(path) ?? '?'}): ` +
      `stop that one first\n  kill $(cat "${path}")`,
  )
}

/** The pid in the lock file at `path`, or null. */
async function lockHolder(path: string): Promise<number | null> {
  try {
    const pid = Number.parseInt(await Deno.readTextFile(path), 10)
    return Number.isInteger(pid) ? pid : null
  } catch {
    return null
  }
}

async function open(path: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(path, { create: true, read: true, write: true })
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error
    throw new SetupError(`${path} belongs to another user: start as that user, or remove it`)
  }
}

function held(file: Deno.FsFile): Lock {
  let open = true
  return {
    release: () => {
      if (!open) return
      open = false
      // Removes the pid, which another process may get.
      file.truncateSync(0)
      file.close()
    },
  }
}

async function noteHolder(file: Deno.FsFile): Promise<void> {
  await file.truncate(0)
  await file.write(new TextEncoder().encode(`${Deno.pid}\n`))
}
