import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import type { PostgresBinaries } from './binaries.ts'
import type { ServerUser } from './server_user.ts'
import { machineProblem, SetupError } from '../errors.ts'

/** Between PGDATA's name and the random end of a cluster in the making. */
const UNFINISHED = '.making-'

/** Where the parts of one database server lie, all below one data folder. */
export interface ClusterPaths {
  /** PGDATA. */
  data: string
  /** Folder of the Unix socket, for pg_cron alone. */
  socket: string
  /** The server's log. */
  log: string
  /** Vault's key: 64 random bytes, beside PGDATA and never in it. */
  vaultKey: string
}

/** The paths of the server whose data folder is `dataDir` (absolute). */
export function clusterPaths(dataDir: string): ClusterPaths {
  return {
    data: `${dataDir}/pg`,
    socket: socketFolder(dataDir),
    log: `${dataDir}/postgres.log`,
    vaultKey: `${dataDir}/vault.key`,
  }
}

/**
 * The kernel takes no socket path over 107 bytes: below a long data folder it lies in /tmp instead.
 */
function socketFolder(dataDir: string): string {
  const inside = `${dataDir}/socket`
  if (new TextEncoder().encode(inside).length <= 90) return inside
  return `/tmp/outhook-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
}

/**
 * Whether the cluster has been made. A half-made one lies under another name and does not count.
 */
export async function clusterExists(paths: ClusterPaths): Promise<boolean> {
  try {
    await Deno.stat(`${paths.data}/PG_VERSION`)
    return true
  } catch {
    return false
  }
}

/** Throws a SetupError when the cluster was made by another major version than `binaries`. */
export async function requireSameMajor(
  paths: ClusterPaths,
  binaries: PostgresBinaries,
): Promise<void> {
  const made = Number(await Deno.readTextFile(`${paths.data}/PG_VERSION`))
  if (made === binaries.major) return
  throw new SetupError(
    `${paths.data} was made by PostgreSQL ${made}, and ${binaries.major} is what runs now: ` +
      'begin anew with --fresh',
  )
}

/**
 * Makes the cluster under a temporary name and renames it, so that a kill in between leaves nothing
 * that looks whole; when `signal` aborts, nothing is left at all. The superuser is supabase_admin, as
 * on the platform.
 */
export async function createCluster(
  paths: ClusterPaths,
  binaries: PostgresBinaries,
  user: ServerUser,
  signal?: AbortSignal,
): Promise<void> {
  await removeUnfinished(paths)
  // A name of its own: the initdb of a killed start may still be writing to its folder.
  const making = `${paths.data}${UNFINISHED}${crypto.randomUUID().slice(0, 8)}`
  const passwordFile = `${making}.password`
  try {
    await initdb({ making, passwordFile, paths, binaries, user, signal })
    await Deno.rename(making, paths.data)
  } catch (error) {
    for (const path of [making, passwordFile, paths.vaultKey]) {
      await Deno.remove(path, { recursive: true }).catch(ignoreNotFound)
    }
    throw error
  }
}

async function initdb(
  { making, passwordFile, paths, binaries, user, signal }: {
    making: string
    passwordFile: string
    paths: ClusterPaths
    binaries: PostgresBinaries
    user: ServerUser
    signal: AbortSignal | undefined
  },
): Promise<void> {
  await Deno.mkdir(making, { mode: 0o700 })
  await user.own(making)
  await createVaultKey(paths, user)
  await Deno.writeTextFile(passwordFile, 'postgres\n', { mode: 0o600 })
  await user.own(passwordFile)
  const [command = '', ...args] = [
    ...user.prefix,
    `${binaries.bin}/initdb`,
    '--pgdata',
    making,
    '--username=supabase_admin',
    `--pwfile=${passwordFile}`,
    '--auth-host=scram-sha-256',
    '--auth-local=trust',
    '--encoding=UTF8',
    '--lc-collate=C',
    `--lc-ctype=${Deno.build.os === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
    '--no-sync',
  ]
  // In its own session, so that Ctrl-C does not reach it: only `signal` ends it, and we wait for it.
  const { success, stderr } = await new Deno.Command(command, {
    args,
    cwd: '/',
    detached: true,
    ...signal === undefined ? {} : { signal },
  }).output()
  signal?.throwIfAborted()
  await Deno.remove(passwordFile)
  if (!success) {
    const said = new TextDecoder().decode(stderr).trim()
    throw new SetupError(
      machineProblem(said) ??
        `Cannot make a database with initdb; correct the cause in its output:\n${
          said.slice(-1000)
        }`,
    )
  }
}

/** Removes the cluster and all that belongs to it. */
export async function removeCluster(paths: ClusterPaths): Promise<void> {
  for (const path of [paths.data, paths.vaultKey, paths.log]) {
    await Deno.remove(path, { recursive: true }).catch(ignoreNotFound)
  }
}

async function removeUnfinished(paths: ClusterPaths): Promise<void> {
  const [folder, name] = [dirname(paths.data), basename(paths.data)]
  for await (const entry of Deno.readDir(folder)) {
    if (!entry.name.startsWith(name + UNFINISHED)) continue
    // What an initdb still running adds meanwhile goes at the next start.
    await Deno.remove(`${folder}/${entry.name}`, { recursive: true }).catch(() => {})
  }
}

async function createVaultKey(paths: ClusterPaths, user: ServerUser): Promise<void> {
  await Deno.writeFile(paths.vaultKey, crypto.getRandomValues(new Uint8Array(64)), { mode: 0o600 })
  await user.own(paths.vaultKey)
}

/**
 * Makes the socket's folder, which only the server's user may enter: its connections need no
 * password. Whatever else has its name goes first, so that nobody can have put a link there.
 */
export async function prepareSocket(paths: ClusterPaths, user: ServerUser): Promise<void> {
  await removeSocket(paths)
  await Deno.mkdir(paths.socket, { mode: 0o700 })
  await user.own(paths.socket)
}

/** Removes the socket's folder, which may lie outside the data folder. */
export async function removeSocket(paths: ClusterPaths): Promise<void> {
  await Deno.remove(paths.socket, { recursive: true }).catch(ignoreNotFound)
}

/** Passes over a NotFound error and throws any other. */
export function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error
}
