/** Runs apt-get. Downloads may be interrupted; an installation may not. */

import { SetupError } from '../errors.ts'
import { linesOf } from '../packages/lines.ts'
import { startProgress } from '../progress.ts'

export interface AptOptions {
  log: (line: string) => void
  signal?: AbortSignal | undefined
}

const BASE = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'APT::Status-Fd=1', '-q']

export async function aptUpdate(options: AptOptions): Promise<void> {
  await apt(['update'], { ...options, what: 'reading the package lists' })
}

/**
 * Installs packages without recommended ones. It downloads them first, because a download can be interrupted
 * at any time. Ctrl-C during the installation waits for its end, because the user would have to repair a
 * half-installed package.
 */
export async function aptInstall(packages: readonly string[], options: AptOptions): Promise<void> {
  const { log, signal } = options
  const args = ['install', '-y', '--no-install-recommends', ...packages]
  await apt([...args, '--download-only'], { ...options, what: 'downloading' })
  const onAbort = (): void =>
    log('apt: waiting for the end of the installation, which must not be interrupted')
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    await apt(args, { log, what: 'installing' })
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
  signal?.throwIfAborted()
}

async function apt(
  args: string[],
  { log, signal, what }: AptOptions & { what: string },
): Promise<void> {
  const ended = await runApt(args, { log, signal, what })
  signal?.throwIfAborted()
  if (ended.success) return
  if (!/dpkg --configure -a/.test(ended.said)) throw aptError(args, ended.said)
  // If an earlier installation was interrupted, dpkg must finish it first.
  log('apt: finishing an interrupted installation (dpkg --configure -a)')
  await new Deno.Command('dpkg', {
    args: ['--configure', '-a'],
    env: { DEBIAN_FRONTEND: 'noninteractive' },
    stdin: 'null',
  }).output()
  const again = await runApt(args, { log, signal, what })
  signal?.throwIfAborted()
  if (!again.success) throw aptError(args, again.said)
}

/** Runs it in its own session, so that Ctrl-C does not reach it: only `signal` ends it. */
async function runApt(
  args: string[],
  { log, signal, what }: AptOptions & { what: string },
): Promise<{ success: boolean; said: string }> {
  const child = new Deno.Command('apt-get', {
    args: [...BASE, ...args],
    env: { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
    stdin: 'null',
    stdout: 'piped',
    stderr: 'piped',
    detached: true,
    ...signal === undefined ? {} : { signal },
  }).spawn()
  const progress = startProgress({ log })
  const said: string[] = []
  await Promise.all([child.stdout, child.stderr].map(async (stream) => {
    for await (const line of linesOf(stream)) {
      const percent = /^(?:dl|pm)status:[^:]*:([\d.]+):/.exec(line)?.[1]
      if (percent === undefined) said.push(line)
      else progress.at(`apt: ${what}, ${Math.round(Number(percent))} %`)
    }
  }))
  const { success } = await child.status
  return { success, said: said.join('\n') }
}

const CAUSES: readonly (readonly [pattern: RegExp, says: string])[] = [
  [
    /\b407\b/,
    "The proxy requires a user and a password from apt (407): set them in apt's settings",
  ],
  [
    /no space left|enough free space/i,
    'The disk is full: free about 300 MB, then start again',
  ],
  [
    /could not get lock|unable to acquire the dpkg/i,
    'Another program has been using apt for five minutes: wait for its end, then start again',
  ],
  [
    /could not resolve|temporary failure resolving|could not connect|cannot initiate|connection (failed|refused|timed out)|failed to fetch|unable to fetch/i,
    "apt cannot reach Debian's archive: connect this machine to the network, then start again",
  ],
]

/** The error for the output of apt, with its error lines. */
export function aptError(args: readonly string[], said: string): SetupError {
  const says = CAUSES.find(([pattern]) => pattern.test(said))?.[1] ?? `apt-get ${args[0]} failed`
  const errors = said.split('\n').filter((line) => /^(E|Err|W): ?/.test(line)).slice(-3)
  return new SetupError([says, ...errors.map((line) => `  ${line.slice(0, 300)}`)].join('\n'))
}
