import { machineProblem, SetupError } from '../errors.ts'
import { type GuardedChild, spawnGuarded } from '../process/watchdog.ts'
import { waitUntil } from '../process/wait.ts'
import type { PostgresBinaries } from './binaries.ts'
import type { ClusterPaths } from './cluster.ts'
import type { ServerUser } from './server_user.ts'
import { serverOptions } from './settings.ts'

/** Why a server did not start: its port was taken, a killed server's backends still run, or another error. */
export type StartFailure =
  | { kind: 'port_taken' }
  | { kind: 'still_in_use' }
  | { kind: 'failed'; log: string; logFile: string }

/** A started server, or why it did not start. */
export type StartResult = { kind: 'started'; child: GuardedChild } | StartFailure

/** Starts the server and waits until it accepts connections. */
export async function startServer(options: {
  paths: ClusterPaths
  binaries: PostgresBinaries
  user: ServerUser
  port: number
  fsync: boolean
  /** Beside the variables of this process. */
  env?: Readonly<Record<string, string>>
  signal?: AbortSignal | undefined
}): Promise<StartResult> {
  const { paths, binaries, user, port, fsync, env = {}, signal } = options
  const logStart = await trimLog(paths.log)
  const stale = await readPidFile(paths.data)
  const child = spawnGuarded({
    command: [
      ...user.prefix,
      `${binaries.bin}/postgres`,
      '-D',
      paths.data,
      ...serverOptions(paths, { port, fsync, platform: binaries.platform }),
    ],
    cwd: '/',
    env: { ...env },
    logFile: paths.log,
    // Fast shutdown, then immediate shutdown, after which the next start recovers.
    stopSignal: 'INT',
    forceSignal: 'QUIT',
    graceSeconds: 20,
  })
  let ended = false
  child.ended.then(() => ended = true)
  const ready = await waitUntil(
    async () => ended || signal?.aborted === true || isReady(await readPidFile(paths.data), stale),
    { timeoutMs: 120_000 },
  )
  if (ready && !ended && signal?.aborted !== true) return { kind: 'started', child }
  await child.stop()
  signal?.throwIfAborted()
  // Counts bytes, because earlier output may have characters of several bytes.
  const log = new TextDecoder().decode((await Deno.readFile(paths.log)).subarray(logStart))
  if (/could not bind .*Address already in use/.test(log)) return { kind: 'port_taken' }
  if (/pre-existing shared memory block .* is still in use/.test(log)) {
    return { kind: 'still_in_use' }
  }
  return { kind: 'failed', log: log.trim().slice(-2000), logFile: paths.log }
}

/** The SetupError for a failure. */
export function startError(failure: StartFailure, port: number): SetupError {
  switch (failure.kind) {
    case 'port_taken':
      return new SetupError(
        `Port ${port} (database) is taken now: stop the program that uses it, or run with --free-ports`,
      )
    case 'still_in_use':
      return new SetupError(
        'Processes of a killed database server are still running: end them, then start again',
      )
    case 'failed':
      return new SetupError(
        machineProblem(failure.log) ??
          'The database server does not start: fix the error in its log, or start with ' +
            `--fresh, which drops the local data (${failure.logFile})\n${
              tellingLines(failure.log)
            }`,
      )
  }
}

/** The last three lines with a cause, or the last three lines. */
function tellingLines(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '')
  const telling = lines.filter((line) => /\b(FATAL|PANIC|ERROR|HINT|DETAIL|error):?/.test(line))
  return (telling.length > 0 ? telling : lines).slice(-3).map((line) => `  ${line.slice(0, 300)}`)
    .join('\n')
}

/**
 * Whether the eighth line of postmaster.pid is `ready` (pg_ctl checks it too). The file of a killed server
 * (`stale`) says so as well, until the new server writes its own.
 */
function isReady(pidFile: string, stale: string): boolean {
  return pidFile !== stale && pidFile.split('\n')[7]?.trim() === 'ready'
}

async function readPidFile(data: string): Promise<string> {
  try {
    return await Deno.readTextFile(`${data}/postmaster.pid`)
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return ''
    throw error
  }
}

/**
 * Creates the log (readable only for its owner, because it has failed statements), or empties one over 20 MB;
 * returns its length.
 */
async function trimLog(path: string): Promise<number> {
  const file = await Deno.open(path, { create: true, write: true, mode: 0o600 })
  const { size } = await file.stat()
  if (size > 20_000_000) await file.truncate(0)
  file.close()
  return size > 20_000_000 ? 0 : size
}
