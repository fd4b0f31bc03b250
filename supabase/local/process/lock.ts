import { SetupError } from '../errors.ts'

/** A held lock. The kernel frees it when the holder ends, however it ends. */
export interface Lock {
  /** Frees the lock; once is enough, twice is no error. */
  release(): void
}

/**
 * Takes the lock file at `path` (created when absent) and returns the lock, or null when another
 * process holds it. The holder's pid is written into the file, for messages only.
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
 * Takes `<folder>/<name>.lock` for a stack or a server whose files lie in `folder`. Throws a
 * SetupError that names the holder when another process has it.
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

/** The pid that the lock file at `path` names, or null when it cannot be read. */
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
      // Whoever asks the file whom to stop is not sent to a stranger that has the pid now.
      file.truncateSync(0)
      file.close()
    },
  }
}

async function noteHolder(file: Deno.FsFile): Promise<void> {
  await file.truncate(0)
  await file.write(new TextEncoder().encode(`${Deno.pid}\n`))
}
