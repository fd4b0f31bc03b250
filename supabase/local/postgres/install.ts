import { messageOf, SetupError } from '../errors.ts'
import { abortable } from '../interrupted.ts'
import { type Lock, tryLock, waitForLock } from '../process/lock.ts'
import { aptInstall, type AptOptions, aptUpdate } from './apt.ts'
import { binVariable, findPostgres, type PostgresBinaries } from './binaries.ts'

/** Prints one line about the current step. */
export type Log = (line: string) => void

const OTHER_WAYS =
  'install PostgreSQL 15, 16 or 17 with pg_cron (Debian 12: apt-get install postgresql-15 ' +
  'postgresql-15-cron; Debian 13: postgresql-17 postgresql-17-cron), or run this as root on Debian ' +
  'or Ubuntu, which installs them, or use the Supabase CLI with Docker (`supabase start`)'

const CLUSTER_CONFIG = '/etc/postgresql-common/createcluster.d/outhook.conf'

/**
 * Returns an installed Postgres with pg_cron. As root on Debian or Ubuntu it installs missing packages with
 * apt. OUTHOOK_POSTGRES_BIN selects one. Throws a SetupError with the alternatives if there is none.
 */
export async function ensurePostgres(
  { log, signal }: { log: Log; signal?: AbortSignal | undefined },
): Promise<PostgresBinaries> {
  const found = await findPostgres()
  if (found !== null && found.missing.length === 0) return found
  const named = Deno.env.get(binVariable) ?? ''
  if (named !== '') {
    if (found !== null) return found
    throw new SetupError(
      `${binVariable} is ${named}, which has no PostgreSQL 15, 16 or 17 with pg_cron: set it to the ` +
        'folder of its programs, or unset it',
    )
  }
  if (!await canInstall()) {
    if (found !== null) return found
    throw new SetupError(`There is no PostgreSQL with pg_cron here: ${OTHER_WAYS}`)
  }
  // Of two concurrent starts the second waits here and then finds everything installed.
  const lock = await abortable(takeInstallLock(log), signal)
  try {
    const after = await findPostgres()
    if (after !== null && after.missing.length === 0) return after
    await install({ log, signal })
  } finally {
    lock.release()
  }
  const installed = await findPostgres()
  if (installed === null) {
    throw new SetupError(`apt installed PostgreSQL, but without pg_cron: ${OTHER_WAYS}`)
  }
  return installed
}

async function takeInstallLock(log: Log): Promise<Lock> {
  const path = '/var/lock/outhook-install.lock'
  const lock = await tryLock(path)
  if (lock !== null) return lock
  log('waiting for another copy that installs PostgreSQL')
  return await waitForLock(path)
}

async function canInstall(): Promise<boolean> {
  if (Deno.build.os !== 'linux' || Deno.uid() !== 0) return false
  try {
    return (await new Deno.Command('apt-get', { args: ['--version'] }).output()).success
  } catch {
    return false
  }
}

async function install(options: AptOptions): Promise<void> {
  const { log } = options
  let major = await newestOffered()
  if (major === null) {
    log('apt: reading the package lists (apt-get update)')
    await aptUpdate(options)
    major = await newestOffered()
  }
  if (major === null) {
    throw new SetupError(`apt offers no PostgreSQL 15, 16 or 17 with pg_cron: ${OTHER_WAYS}`)
  }
  const packages = ['', '-cron', '-pgtap', '-plpgsql-check'].map((p) => `postgresql-${major}${p}`)
  log(`apt: installing ${packages.join(' ')} (no database server is set up or started)`)
  await withoutMainCluster(() => installPackages(packages, options))
}

/** Installs the packages; if the package lists are outdated, it updates them and retries. */
async function installPackages(packages: string[], options: AptOptions): Promise<void> {
  try {
    await aptInstall(packages, options)
  } catch (error) {
    options.signal?.throwIfAborted()
    options.log(
      `apt: ${messageOf(error).split('\n')[0]}; reading the package lists, then once more`,
    )
    await aptUpdate(options)
    await aptInstall(packages, options)
  }
}

async function newestOffered(): Promise<number | null> {
  const { stdout } = await new Deno.Command('apt-cache', {
    args: ['search', '--names-only', '^postgresql-1[567]-cron$'],
  }).output()
  const majors = [...new TextDecoder().decode(stdout).matchAll(/^postgresql-(\d+)-cron /gm)]
    .map((match) => Number(match[1]))
  return majors.length > 0 ? Math.max(...majors) : null
}

/** Prevents that Debian creates and starts a cluster on port 5432; it removes the setting afterwards. */
async function withoutMainCluster(work: () => Promise<void>): Promise<void> {
  await Deno.mkdir(CLUSTER_CONFIG.slice(0, CLUSTER_CONFIG.lastIndexOf('/')), { recursive: true })
  await Deno.writeTextFile(CLUSTER_CONFIG, 'create_main_cluster = false\n')
  try {
    await work()
  } finally {
    await Deno.remove(CLUSTER_CONFIG)
  }
}
