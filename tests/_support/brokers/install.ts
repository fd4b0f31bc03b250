import { tryLock, waitForLock } from '../../../supabase/local/process/lock.ts'
import { withoutServices } from '../without_services.ts'

/** Debian's packages of the brokers that the tests start. */
const packages = ['rabbitmq-server', 'kcat']

const lockPath = '/var/lock/outhook-install.lock'

/**
 * Makes sure that RabbitMQ, kcat and librdkafka are there; as root on Debian or Ubuntu it installs
 * them with apt, and says so. No broker of the system's own is started. Throws an error that names
 * the packages when they cannot be installed.
 */
export async function ensureBrokers({ log }: { log: (line: string) => void }): Promise<void> {
  if (await areInstalled()) return
  const lock = await tryLock(lockPath) ?? await waitForLock(lockPath)
  try {
    if (await areInstalled()) return
    log(`apt: installing ${packages.join(' ')} (no broker is started)`)
    await withoutServices(async () => {
      if (!await apt('install', '-y', '--no-install-recommends', ...packages)) {
        await apt('update')
        await apt('install', '-y', '--no-install-recommends', ...packages)
      }
    })
  } finally {
    lock.release()
  }
  if (await areInstalled()) return
  throw new Error(`the tests of brokers need ${packages.join(' and ')}: apt-get install them`)
}

async function areInstalled(): Promise<boolean> {
  const { success } = await new Deno.Command('dpkg-query', {
    args: ['--show', ...packages],
    stdout: 'null',
    stderr: 'null',
  }).output().catch(() => ({ success: false }))
  return success
}

async function apt(...args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command('apt-get', {
    args: ['-o', 'DPkg::Lock::Timeout=300', '-q', ...args],
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    stdin: 'null',
    stdout: 'null',
    stderr: 'null',
  }).output().catch(() => ({ success: false }))
  return success
}
