import { aptInstall, aptUpdate } from '../../supabase/local/postgres/apt.ts'
import { tryLock, waitForLock } from '../../supabase/local/process/lock.ts'
import { withoutServices } from './without_services.ts'

/** Programs that the tests start, and Debian's packages of them. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  git: 'git',
  curl: 'curl',
  openssl: 'openssl',
  python3: 'python3',
  ps: 'procps',
  pgbouncer: 'pgbouncer',
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  lighttpd: 'lighttpd',
  gunicorn: 'gunicorn',
  php: 'php-cli',
  chromium: 'chromium',
}

const lockPath = '/var/lock/outhook-install.lock'

/**
 * Makes sure that the programs are there; as root on Debian or Ubuntu it installs what is missing with
 * apt, starts no server, and says so. Throws an error that names the packages when they cannot be installed.
 */
export async function ensurePrograms(
  { programs, log }: { programs: readonly string[]; log: (line: string) => void },
): Promise<void> {
  if ((await missing(programs)).length === 0) return
  if (Deno.build.os !== 'linux' || Deno.uid() !== 0) return refuse(await missing(programs))
  const lock = await tryLock(lockPath) ?? await waitForLock(lockPath)
  try {
    const packages = await missing(programs)
    if (packages.length === 0) return
    log(`apt: installing ${packages.join(' ')}`)
    await withoutServices(async () => {
      try {
        await aptInstall(packages, { log })
      } catch {
        await aptUpdate({ log })
        await aptInstall(packages, { log })
      }
    })
  } finally {
    lock.release()
  }
  const packages = await missing(programs)
  if (packages.length > 0) refuse(packages)
}

function refuse(packages: string[]): never {
  throw new Error(`the tests need ${packages.join(' ')}: install them (Debian: apt-get install)`)
}

async function missing(programs: readonly string[]): Promise<string[]> {
  const packages: string[] = []
  for (const program of programs) {
    const { success } = await new Deno.Command('sh', {
      args: ['-c', 'command -v "$1"', 'sh', program],
      stdout: 'null',
      stderr: 'null',
    }).output()
    if (!success) packages.push(PROGRAMS[program] ?? program)
  }
  return packages
}
