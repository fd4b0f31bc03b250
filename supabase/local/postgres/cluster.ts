import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import type { PostgresBinaries } from './binaries.ts'
import type { ServerUser } from './server_user.ts'
import { machineProblem, SetupError } from '../errors.ts'

/** Between PGDATA's name and the random end of an incomplete cluster. */
const UNFINISHED = '.making-'

/** The paths of a database server, all in one data folder. */
export interface ClusterPaths {
  /** PGDATA. */
  data: string
  /** The folder of the Unix socket, for pg_cron only. */
  socket: string
  /** The server's log. */
  log: string
  /** Vault's key: 64 random bytes, outside of PGDATA. */
  vaultKey: string
  /** The script from which the extension Vault gets its root key, relative to PGDATA. */
  vaultScript: string
}

/** The paths for the data folder `dataDir` (absolute). */
export function clusterPaths(dataDir: string): ClusterPaths {
  return {
    data: `${dataDir}/pg`,
    socket: socketFolder(dataDir),
    log: `${dataDir}/postgres.log`,
    vaultKey: `${dataDir}/vault.key`,
    vaultScript: './vault_key.sh',
  }
}

/** The kernel limits socket paths to 107 bytes: for a long data folder the socket is in /tmp. */
function socketFolder(dataDir: string): string {
  const inside = `${dataDir}/socket`
  if (new TextEncoder().encode(inside).length <= 90) return inside
  return `/tmp/outhook-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
}

/** Whether there is a complete cluster. An incomplete one has another name. */
export async function clusterExists(paths: ClusterPaths): Promise<boolean> {
  try {
    await Deno.stat(`${paths.data}/PG_VERSION`)
    return true
  } catch {
    return false
  }
}

/** Throws a SetupError if another major version than `binaries` created the cluster. */
export async function requireSameMajor(
  paths: ClusterPaths,
  binaries: PostgresBinaries,
): Promise<void> {
  const made = Number(await Deno.readTextFile(`${paths.data}/PG_VERSION`))
  if (made === binaries.major) return
  throw new SetupError(
    `${paths.data} was created by PostgreSQL ${made}, and the installed version is ${binaries.major}: ` +
      'start with --fresh',
  )
}

/**
 * Creates the cluster under a temporary name and renames it, so that a kill leaves no incomplete cluster
 * under its name; if `signal` aborts, the temporary folder is removed too. The superuser is supabase_admin,
 * as on the platform.
 */
export async function createCluster(
  paths: ClusterPaths,
  binaries: PostgresBinaries,
  user: ServerUser,
  signal?: AbortSignal,
): Promise<void> {
  await removeUnfinished(paths)
  // A random name, because the initdb of a killed start may still write to its folder.
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
  // In its own session, so that Ctrl-C does not reach it: `signal` ends it, and this waits for it.
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
        `Cannot create a database with initdb; fix the cause in its output:\n${said.slice(-1000)}`,
    )
  }
}

/** Removes the cluster and all its files. */
export async function removeCluster(paths: ClusterPaths): Promise<void> {
  for (const path of [paths.data, paths.vaultKey, paths.log]) {
    await Deno.remove(path, { recursive: true }).catch(ignoreNotFound)
  }
}

async function removeUnfinished(paths: ClusterPaths): Promise<void> {
  const [folder, name] = [dirname(paths.data), basename(paths.data)]
  for await (const entry of Deno.readDir(folder)) {
    if (!entry.name.startsWith(name + UNFINISHED)) continue
    // If an initdb still adds files, the next start removes them.
    await Deno.remove(`${folder}/${entry.name}`, { recursive: true }).catch(() => {})
  }
}

async function createVaultKey(paths: ClusterPaths, user: ServerUser): Promise<void> {
  await Deno.writeFile(paths.vaultKey, crypto.getRandomValues(new Uint8Array(64)), { mode: 0o600 })
  await user.own(paths.vaultKey)
}

/**
 * Writes the script of the extension Vault, which prints 32 bytes of vault.key as hexadecimal digits. It is in
 * PGDATA, the working directory of the server: Vault asks with access(2), which ignores the capabilities of
 * `serverUser`, so that a path through a folder of root's is refused.
 */
export async function prepareVaultScript(paths: ClusterPaths, user: ServerUser): Promise<void> {
  const path = `${paths.data}/${paths.vaultScript}`
  await Deno.remove(path).catch(ignoreNotFound)
  const script = `#!/bin/sh\nod -An -v -tx1 -N32 ../vault.key | tr -d ' \\n'\n`
  await Deno.writeTextFile(path, script, { mode: 0o700 })
  await user.own(path)
}

/**
 * Creates the socket's folder. Only the server's user may enter it, because its connections need no
 * password. An existing file of that name is removed first, so that nobody can have put a link there.
 */
export async function prepareSocket(paths: ClusterPaths, user: ServerUser): Promise<void> {
  await removeSocket(paths)
  await Deno.mkdir(paths.socket, { mode: 0o700 })
  await user.own(paths.socket)
}

/** Removes the socket's folder, which may be outside of the data folder. */
export async function removeSocket(paths: ClusterPaths): Promise<void> {
  await Deno.remove(paths.socket, { recursive: true }).catch(ignoreNotFound)
}

/** Ignores a NotFound error and throws any other. */
export function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error
}
