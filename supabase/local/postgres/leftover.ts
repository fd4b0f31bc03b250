import { commandLine, isAlive, signalQuietly } from '../process/identity.ts'
import { waitUntil } from '../process/wait.ts'
import { SetupError } from '../errors.ts'

/**
 * Stops a server that a killed stack has left in the cluster `data` (PGDATA). If the process in
 * postmaster.pid is gone, the file stays, because Postgres uses it to find remaining backends. If the pid
 * belongs to another program, the file is removed, because it would prevent a start. The caller must have
 * locked the data folder, so that no other stack uses the server. Throws a SetupError if the server does not
 * end within 30 s.
 */
export async function stopLeftoverServer(data: string): Promise<void> {
  const pidFile = `${data}/postmaster.pid`
  const pid = await readPid(pidFile)
  if (pid === null || !await isAlive(pid)) return
  if (await isServerOf(pid, data)) {
    // SIGQUIT: the server has no clients, and recovery is faster than waiting for its backends.
    signalQuietly(pid, 'SIGQUIT')
    if (!await waitUntil(async () => !await isAlive(pid), { timeoutMs: 30_000 })) {
      throw new SetupError(
        `a server of an earlier start in ${data} (pid ${pid}) does not end: kill it`,
      )
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
