/** The layers of Debian roots, kept in `.outhook/debian/` so that each is made only once. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { exists } from '../../../supabase/local/exists.ts'
import { tryLock, waitForLock } from '../../../supabase/local/process/lock.ts'
import { command } from './command.ts'
import { debianFolder } from './folder.ts'
import { machineMirror, output } from './mirror.ts'

/** Debian 12 and 13. */
export type Suite = 'bookworm' | 'trixie'

/** Called with a line for each step. */
export type Log = (line: string) => void

/**
 * Makes sure that there is a minimal root of `suite` (debootstrap's minbase: apt and what it needs),
 * and returns its folder's name in `debianFolder`. Installs debootstrap when it is missing.
 */
export async function baseLayer(suite: Suite, log: Log): Promise<string> {
  const mirror = await machineMirror()
  return await madeOnce(`${suite}-base`, async (draft) => {
    await ensureDebootstrap(log)
    log(`debootstrap: making a minimal Debian root of ${suite}`)
    await output('debootstrap', ['--variant=minbase', suite, draft, mirror.archive])
    const sources = [`deb ${mirror.archive} ${suite} main`]
    if (mirror.security !== null) {
      sources.push(`deb ${mirror.security} ${suite}-security main`)
    }
    await Deno.writeTextFile(`${draft}/etc/apt/sources.list`, `${sources.join('\n')}\n`)
    await Deno.writeTextFile(`${draft}/etc/apt/apt.conf.d/90machine`, mirror.settings)
    await Deno.copyFile('/etc/resolv.conf', `${draft}/etc/resolv.conf`)
    await Deno.copyFile('/etc/hosts', `${draft}/etc/hosts`)
  })
}

/** Makes sure that there is a layer of Debian packages on top of `base`, and returns its name. */
export async function packageLayer(base: string, packages: string[], log: Log): Promise<string> {
  const key = createHash('sha256').update([...packages].sort().join(' ')).digest('hex')
  return await madeOnce(`${base}-${key.slice(0, 12)}`, async (draft) => {
    log(`apt: installing ${packages.join(' ')} into ${base}`)
    const use = `${draft}.use`
    for (const part of ['upper', 'work', 'root']) {
      await Deno.mkdir(`${use}/${part}`, { recursive: true })
    }
    // No service of a package is started in the root.
    await Deno.mkdir(`${use}/upper/usr/sbin`, { recursive: true })
    await Deno.writeTextFile(`${use}/upper/usr/sbin/policy-rc.d`, '#!/bin/sh\nexit 101\n', {
      mode: 0o755,
    })
    const script = 'apt-get -q update && apt-get -q install -y --no-install-recommends "$@" && ' +
      'apt-get clean && rm /usr/sbin/policy-rc.d'
    const child = command({
      lower: [base],
      use,
      command: ['sh', '-c', script, 'install', ...packages],
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    })
    const { success, stdout, stderr } = await child.output()
    if (!success) {
      const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)
      throw new Error(`apt-get install failed in the root:\n${said.trim().slice(-2000)}`)
    }
    await Deno.remove(draft, { recursive: true })
    await Deno.rename(`${use}/upper`, draft)
    await Deno.remove(use, { recursive: true })
  })
}

/** Makes a layer under another name and then renames it, so that a layer is always complete. */
async function madeOnce(name: string, make: (draft: string) => Promise<void>): Promise<string> {
  const folder = join(debianFolder, name)
  await Deno.mkdir(debianFolder, { recursive: true })
  const path = `${folder}.lock`
  const lock = await tryLock(path) ?? await waitForLock(path)
  try {
    if (await exists(folder)) return name
    const draft = `${folder}.draft`
    await Deno.remove(draft, { recursive: true }).catch(() => {})
    await Deno.remove(`${draft}.use`, { recursive: true }).catch(() => {})
    await Deno.mkdir(draft)
    await make(draft)
    await Deno.rename(draft, folder)
    return name
  } finally {
    lock.release()
  }
}

async function ensureDebootstrap(log: Log): Promise<void> {
  if (await exists('/usr/sbin/debootstrap')) return
  log('apt: installing debootstrap')
  const apt = ['-o', 'DPkg::Lock::Timeout=300', '-q']
  await output('apt-get', [...apt, 'install', '-y', '--no-install-recommends', 'debootstrap'])
}
