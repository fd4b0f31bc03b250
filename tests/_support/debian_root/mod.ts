/**
 * A Debian with only the requested packages, to test the project on an unprepared machine. It shares
 * only the network, the kernel and the clock of this machine. Requires root on Linux.
 */

import { join } from 'node:path'
import { command, type RootCommand } from './command.ts'
import { debianFolder } from './folder.ts'
import { baseLayer, type Log, packageLayer, type Suite } from './layer.ts'

export type { Log, Suite }

/** How a root is made. */
export interface DebianRootOptions {
  suite: Suite
  /** Debian packages to install, without those that they only recommend. */
  packages?: string[]
  log?: Log
}

/** The outcome of one command in a root. */
export interface Ended {
  code: number
  /** Standard output and standard error, in this order. */
  output: string
}

/** A Debian root with private changes. */
export interface DebianRoot extends AsyncDisposable {
  /** A folder for files to put into the root before a command runs: `${upper}/srv/project`. */
  readonly upper: string
  /** Runs a command to its end as the root's superuser, with no variables but PATH, HOME and `env`. */
  run(words: string[], more?: Omit<RootCommand, 'lower' | 'use' | 'command'>): Promise<Ended>
  /** The same command, to be spawned by the caller. */
  command(words: string[], more?: Omit<RootCommand, 'lower' | 'use' | 'command'>): Deno.Command
}

/**
 * Opens a new root. The layers below it are made at the first call (a minute each) and kept in
 * `.outhook/debian/`; disposing of the root removes what was changed in it. Commands of one root run
 * one after the other.
 */
export async function openDebianRoot(
  { suite, packages = [], log = () => {} }: DebianRootOptions,
): Promise<DebianRoot> {
  if (Deno.build.os !== 'linux' || Deno.uid() !== 0) {
    throw new Error('A Debian root can be made by root on Linux only')
  }
  const lower = [await baseLayer(suite, log)]
  const [base] = lower
  if (packages.length > 0 && base !== undefined) {
    lower.unshift(await packageLayer(base, packages, log))
  }
  const use = join(debianFolder, `use-${crypto.randomUUID().slice(0, 13)}`)
  for (const part of ['upper', 'work', 'root']) {
    await Deno.mkdir(join(use, part), { recursive: true })
  }
  return {
    upper: join(use, 'upper'),
    command: (words, more = {}) => command({ lower, use, command: words, ...more }),
    async run(words, more = {}): Promise<Ended> {
      const ended = await command({ lower, use, command: words, ...more }).output()
      if (more.stdout === 'inherit') return { code: ended.code, output: '' }
      const decoder = new TextDecoder()
      return {
        code: ended.code,
        output: decoder.decode(ended.stdout) + decoder.decode(ended.stderr),
      }
    },
    [Symbol.asyncDispose]: () => Deno.remove(use, { recursive: true }),
  }
}
