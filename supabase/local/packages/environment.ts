/** The environment for programs that fetch packages on this machine. */

import { dirname, join } from 'node:path'
import { type Files, machineTrust } from './trust.ts'

export function denoCacheDir(env: Readonly<Record<string, string>>): string {
  if (env.DENO_DIR) return env.DENO_DIR
  const home = env.HOME ?? ''
  if (Deno.build.os === 'windows') return join(env.LOCALAPPDATA ?? home, 'deno')
  if (Deno.build.os === 'darwin') return join(home, 'Library/Caches/deno')
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'deno')
}

/** The variables for a program that fetches packages, and notes to print. */
export function fetchEnvironment(
  env: Readonly<Record<string, string>> = Deno.env.toObject(),
): { env: Record<string, string>; notes: string[] } {
  const { variables, unset, notes } = machineTrust(env, realFiles, denoCacheDir(env))
  const all: Record<string, string> = {
    ...env,
    ...variables,
    NO_COLOR: '1',
    DENO_NO_UPDATE_CHECK: '1',
  }
  for (const name of unset) delete all[name]
  return { env: all, notes }
}

const realFiles: Files = {
  read(path): string | null {
    try {
      return Deno.readTextFileSync(path)
    } catch {
      return null
    }
  },
  write(path, text): boolean {
    try {
      Deno.mkdirSync(dirname(path), { recursive: true })
      const draft = `${path}.${Deno.pid}`
      Deno.writeTextFileSync(draft, text, { createNew: true, mode: 0o600 })
      Deno.renameSync(draft, path)
      return true
    } catch {
      return false
    }
  },
}
