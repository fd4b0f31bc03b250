import { SetupError } from '../errors.ts'
import { type Lock, tryLock, waitForLock } from '../process/lock.ts'
import { binVariable, findPostgres, type PostgresBinaries } from './binaries.ts'

/** Says what is being done, one line a call. */
export type Log = (line: string) => void

const OTHER_WAYS = 'Either install PostgreSQL 15, 16 or 17 with pg_cron (Debian: apt-get install ' +
  'postgresql-15 postgresql-15-cron), or use the Supabase CLI with Docker (`supabase start`), or ' +
  'name a database that has both in OUTHOOK_DB_URL and use `deno task worker`'

const CLUSTER_CONFIG = '/etc/postgresql-common/createcluster.d/outhook.conf'

/**
 * Returns an installed Postgres with pg_cron; as root on Debian or Ubuntu it installs what is
 * missing with apt, and says so. OUTHOOK_POSTGRES_BIN names the one to take. Throws a SetupError that lists the other ways when neither is
 * possible.
 */
export async function ensurePostgres({ log }: { log: Log }): Promise<PostgresBinaries> {
  const found = await findPostgres()
  if (found !== null && found.missing.length === 0) return found
  const named = Deno.env.get(binVariable) ?? ''
  if (named !== '') {
    if (found !== null) return found
    throw new SetupError(
      `${binVariable} is ${named}, which holds no PostgreSQL 15, 16 or 17 with pg_cron: name the ` +
        'folder of its programs, or unset it',
    )
  }
  if (!await canInstall()) {
    if (found !== null) return found
    throw new SetupError(`no PostgreSQL with pg_cron is installed. ${OTHER_WAYS}`)
  }
  // Two copies that start at once: the second waits here, then finds everything in place.
  const lock = await takeInstallLock(log)
  try {
    const after = await findPostgres()
    if (after !== null && after.missing.length === 0) return after
    await install(log)
  } finally {
    lock.release()
  }
  const installed = await findPostgres()
  if (installed === null) {
    throw new SetupError(`apt installed PostgreSQL, but without pg_cron. ${OTHER_WAYS}`)
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

async function install(log: Log): Promise<void> {
  let major = await newestOffered()
  if (major === null) {
    log('apt: reading the package lists (apt-get update)')
    await apt(['update'])
    major = await newestOffered()
  }
  if (major === null) {
    throw new SetupError(`apt offers no PostgreSQL 15, 16 or 17 with pg_cron. ${OTHER_WAYS}`)
  }
  const packages = ['', '-cron', '-pgtap', '-plpgsql-check'].map((p) => `postgresql-${major}${p}`)
  log(`apt: installing ${packages.join(' ')} (no database server is set up or started)`)
  await withoutMainCluster(() => installPackages(packages, log))
}

/** Installs the packages; when the lists are too old to download by, reads them anew first. */
async function installPackages(packages: string[], log: Log): Promise<void> {
  const args = ['install', '-y', '--no-install-recommends', ...packages]
  try {
    await apt(args)
  } catch {
    log('apt: reading the package lists (apt-get update), then trying once more')
    await apt(['update'])
    await apt(args)
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

/**
 * Debian makes and starts a cluster on port 5432 unless told otherwise; the setting goes
 * afterwards.
 */
async function withoutMainCluster(work: () => Promise<void>): Promise<void> {
  await Deno.mkdir(CLUSTER_CONFIG.slice(0, CLUSTER_CONFIG.lastIndexOf('/')), { recursive: true })
  await Deno.writeTextFile(CLUSTER_CONFIG, 'create_main_cluster = false\n')
  try {
    await work()
  } finally {
    await Deno.remove(CLUSTER_CONFIG)
  }
}

async function apt(args: string[]): Promise<void> {
  const { success, stdout, stderr } = await new Deno.Command('apt-get', {
    args: ['-o', 'DPkg::Lock::Timeout=300', '-q', ...args],
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    stdin: 'null',
  }).output()
  if (success) return
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
  throw new SetupError(`apt-get ${args[0]} failed:\n${text.trim().slice(-2000)}\n${OTHER_WAYS}`)
}
