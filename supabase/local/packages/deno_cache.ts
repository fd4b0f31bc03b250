/** Fetches what modules import, by `deno cache` or another command of Deno's that fetches. */

import { linesOf } from './lines.ts'

/** What to fetch, and how. */
export interface CacheOptions {
  /** The Deno that will run the modules: each version keeps some things of its own. */
  deno: string
  /** Files, folders or `npm:` specifiers. */
  modules: readonly string[]
  cwd: string
  /** The command: `cache` fetches what is imported, `check` and `bundle` fetch their own tools too. */
  command?: 'cache' | 'check' | 'bundle'
  /** Flags of the command, such as those that name an import map that is not that of `cwd`. */
  flags?: readonly string[]
  env: Readonly<Record<string, string>>
  /** Hears how many packages of how many known so far are being fetched. */
  onProgress?: (done: number, known: number) => void
  /** Ends the fetching. */
  signal?: AbortSignal
}

/** How it ended; `said` is what Deno wrote. */
export interface CacheResult {
  code: number
  /** How many files were downloaded. */
  downloads: number
  said: string
}

/** Runs it to its end. Nothing is downloaded that is there already. */
export async function denoCache(options: CacheOptions): Promise<CacheResult> {
  const { deno, modules, cwd, command = 'cache', flags = [], env, onProgress = () => {}, signal } =
    options
  const child = new Deno.Command(deno, {
    args: [command, '--no-lock', ...flags, ...modules],
    cwd,
    clearEnv: true,
    env,
    stdin: 'null',
    stdout: 'null',
    stderr: 'piped',
    ...signal === undefined ? {} : { signal },
  }).spawn()
  const known = new Set<string>()
  const fetched = new Set<string>()
  const said: string[] = []
  for await (const line of linesOf(child.stderr)) {
    const url = /^Download (\S+)$/.exec(line)?.[1]
    if (url === undefined) {
      said.push(line)
      continue
    }
    // First come the descriptions of all packages, then the packages.
    if (/\.tgz$/.test(url)) fetched.add(url)
    else known.add(url)
    onProgress(fetched.size, Math.max(known.size, fetched.size))
  }
  const { code } = await child.status
  return { code, downloads: known.size + fetched.size, said: said.join('\n') }
}
