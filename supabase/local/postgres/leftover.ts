import { commandLine, isAlive, signalQuietly } from '../process/identity.ts'
import { waitUntil } from '../process/wait.ts'
import { SetupError } from '../errors.ts'

/**
 * Stops a server that a killed stack left behind in the cluster `data` (PGDATA). Nothing is
 * adopted. A postmaster.pid whose process is gone stays: Postgres looks through it for backends
 * that are not. One that names a stranger, who got the pid since, would keep Postgres from starting
 * and is removed. The caller holds the data folder's lock, so whatever runs there belongs to
 * nobody. Throws a SetupError when it does not end within 30 s.
 */
export async function stopLeftoverServer(data: string): Promise<void> {
  const pidFile = `${data}/postmaster.pid`
  const pid = await readPid(pidFile)
  if (pid === null || !await isAlive(pid)) return
  if (await isServerOf(pid, data)) {
    // SIGQUIT: the leftover's clients are gone, and recovery is quicker than waiting for its
    // backends.
    signalQuietly(pid, 'SIGQUIT')
    if (!await waitUntil(async () => !await isAlive(pid), { timeoutMs: 30_000 })) {
      throw new SetupError(`a server left behind in ${data} (pid ${pid}) does not end: kill it`)
    }
  } else {
    await Deno.remove(pidFile)
  }
}

async function readPid(pidFile: string): Promise<number | null> {
  try {
    const pid = Number.parseInt(await Deno.readTextFile(pidFile), 10)
    return Number.isInteger(pid) && pid > 0 ? pid : null
  } catch {
    return null
  }
}

async function isServerOf(pid: number, data: string): Promise<boolean> {
  const words = (await commandLine(pid))?.split(' ') ?? []
  return words.includes(data) && words.some((word) => /(^|\/)(postgres|postmaster)$/.test(word))
}
