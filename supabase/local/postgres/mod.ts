import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { abortable } from '../interrupted.ts'
import { lockFolder } from '../process/lock.ts'
import { freePort, requireFreePort } from '../process/ports.ts'
import type { PostgresBinaries } from './binaries.ts'
import { bootstrapPlatform } from './bootstrap.ts'
import {
  clusterExists,
  type ClusterPaths,
  clusterPaths,
  createCluster,
  prepareSocket,
  prepareVaultScript,
  removeCluster,
  removeSocket,
  requireSameMajor,
} from './cluster.ts'
import { adoptCronJobs } from './cron.ts'
import { ensurePostgres, type Log } from './install.ts'
import { stopLeftoverServer } from './leftover.ts'
import { type PsqlResult, runPsql } from './psql.ts'
import { startError, type StartResult, startServer } from './server.ts'
import { serverUser } from './server_user.ts'
import type { GuardedChild } from '../process/watchdog.ts'

export { ensurePostgres, type Log, type PostgresBinaries, type PsqlResult }

/** The roles that may log in. */
export type Login = 'postgres' | 'supabase_admin' | 'authenticator'

/** A running database server with the platform's roles, vault, net and pg_cron. */
export interface Postgres {
  readonly port: number
  /** Connection string of the role postgres, which is not a superuser. */
  readonly dbUrl: string
  /** Connection string of supabase_admin, the superuser. */
  readonly adminDbUrl: string
  readonly authenticatorDbUrl: string
  readonly binaries: PostgresBinaries
  /** Whether this start created the database. */
  readonly created: boolean
  /** Resolves with the server's exit code when it ends. */
  readonly ended: Promise<number>
  /** Runs a script with psql, by default as postgres. */
  psql(script: string, options?: { as?: Login; args?: string[] }): Promise<PsqlResult>
  /** Stops the server and unlocks the data folder; a second call has no effect. */
  stop(): Promise<void>
}

/**
 * Starts a Postgres with all files in `dataDir` (created if absent); installs Postgres first if that is
 * possible. `port` is a number or 'free'; `fsync: false` is for tests only; `fresh` drops the data of earlier
 * starts. Throws a SetupError with the remedy if the folder or the port is in use, or if there is no
 * Postgres.
 */
export async function startPostgres(options: {
  dataDir: string
  port: number | 'free'
  fsync?: boolean
  fresh?: boolean
  /** Variables of the server beside those of this process. */
  env?: Readonly<Record<string, string>>
  log?: Log
  /** Interrupts the start: its processes are stopped and incomplete files are removed. */
  signal?: AbortSignal | undefined
}): Promise<Postgres> {
  const { port, fsync = true, fresh = false, env = {}, log = () => {}, signal } = options
  const dataDir = resolve(options.dataDir)
  const binaries = await ensurePostgres({ log, signal })
  await Deno.mkdir(dataDir, { recursive: true })
  const lock = await lockFolder(dataDir, 'postgres')
  let child: GuardedChild | undefined
  try {
    const paths = clusterPaths(dataDir)
    await stopLeftoverServer(paths.data)
    if (fresh) await removeCluster(paths)
    signal?.throwIfAborted()
    const started = await launch({ paths, binaries, wanted: port, fsync, env, log, signal })
    child = started.child
    const urlOf = (login: Login): string =>
      `postgresql://${login}:postgres@127.0.0.1:${started.port}/postgres`
    const address = { host: paths.socket, port: started.port }
    const created = await prepare(urlOf('supabase_admin'), address, signal)
    return {
      port: started.port,
      dbUrl: urlOf('postgres'),
      adminDbUrl: urlOf('supabase_admin'),
      authenticatorDbUrl: urlOf('authenticator'),
      binaries,
      created,
      ended: started.child.ended,
      psql: (script, { as = 'postgres', args = [] } = {}) =>
        runPsql(binaries, urlOf(as), script, args),
      stop: once(async () => {
        await started.child.stop()
        await removeSocket(paths)
        lock.release()
      }),
    }
  } catch (error) {
    await child?.stop()
    await removeSocket(clusterPaths(dataDir))
    lock.release()
    throw error
  }
}

/** Runs `work` at the first call; later calls get the same promise. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => done ??= work()
}

async function launch(
  { paths, binaries, wanted, fsync, env, log, signal }: {
    paths: ClusterPaths
    binaries: PostgresBinaries
    wanted: number | 'free'
    fsync: boolean
    env: Readonly<Record<string, string>>
    log: Log
    signal: AbortSignal | undefined
  },
): Promise<{ child: GuardedChild; port: number }> {
  if (wanted !== 'free') requireFreePort(wanted, 'database')
  const user = await serverUser(resolve(paths.data, '..'))
  if (await clusterExists(paths)) {
    await requireSameMajor(paths, binaries)
  } else {
    log(`creating a database in ${paths.data} (PostgreSQL ${binaries.major})`)
    await createCluster(paths, binaries, user, signal)
  }
  await prepareSocket(paths, user)
  if (binaries.platform.includes('supabase_vault')) await prepareVaultScript(paths, user)
  return await startPatiently(
    (port) => startServer({ paths, binaries, user, port, fsync, env, signal }),
    wanted,
  )
}

/**
 * Retries if another program has taken the free port before the server binds it (with another port), or if
 * backends of a killed server are still ending.
 */
async function startPatiently(
  start: (port: number) => Promise<StartResult>,
  wanted: number | 'free',
): Promise<{ child: GuardedChild; port: number }> {
  for (let attempt = 1;; attempt++) {
    const port = wanted === 'free' ? freePort() : wanted
    const result = await start(port)
    if (result.kind === 'started') return { child: result.child, port }
    const again = result.kind === 'still_in_use' ||
      result.kind === 'port_taken' && wanted === 'free'
    if (!again || attempt === 20) throw startError(result, port)
    await delay(result.kind === 'still_in_use' ? 250 : 0)
  }
}

async function prepare(
  adminUrl: string,
  address: { host: string; port: number },
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const admin = postgres(adminUrl, { max: 1, fetch_types: false, onnotice: () => {} })
  try {
    const created = await abortable(bootstrapPlatform(admin), signal)
    await abortable(adoptCronJobs(admin, address), signal)
    return created
  } finally {
    await admin.end({ timeout: signal?.aborted === true ? 0 : undefined })
  }
}
