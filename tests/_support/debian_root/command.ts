import { fileURLToPath } from 'node:url'
import { relative } from 'node:path'
import { debianFolder } from './folder.ts'

/** Options of a command in a root. */
export interface RootCommand {
  /** Names of the layers, the topmost first. */
  lower: string[]
  /** The folder with upper, work and root (absolute). */
  use: string
  command: string[]
  /** All environment variables that the command gets, besides PATH and HOME. */
  env?: Record<string, string>
  /** Folders of this machine and where the root has them. */
  binds?: readonly (readonly [source: string, target: string])[]
  stdin?: 'null' | 'piped' | 'inherit'
  stdout?: 'piped' | 'inherit'
}

/** A command in a root, ready to run. When it ends, everything that it started ends. */
export function command(
  { lower, use, command, env = {}, binds = [], stdin = 'null', stdout = 'piped' }: RootCommand,
): Deno.Command {
  return new Deno.Command('unshare', {
    args: [
      '--mount',
      '--pid',
      '--kill-child',
      'sh',
      fileURLToPath(new URL('enter.sh', import.meta.url)),
      lower.join(':'),
      relative(debianFolder, use),
      ...binds.flat(),
      '--',
      ...command,
    ],
    cwd: debianFolder,
    clearEnv: true,
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/root',
      ...env,
    },
    stdin,
    stdout,
    stderr: stdout,
  })
}
