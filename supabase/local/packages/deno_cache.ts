/** Fetches what modules import, by `deno cache` or another command of Deno's that fetches. */

import { linesOf } from './lines.ts'

export interface CacheOptions {
  /** The Deno that will run the modules, because each version has its own files in the cache. */
  deno: string
  /** Files, folders or `npm:` specifiers. */
  modules: readonly string[]
  cwd: string
  /** The command: `cache` fetches the imports; `check` and `bundle` also fetch their own tools. */
  command?: 'cache' | 'check' | 'bundle'
  /** Flags of the command, for example for an import map other than that of `cwd`. */
  flags?: readonly string[]
  env: Readonly<Record<string, string>>
  /** Called with the number of packages that are being fetched and the number known so far. */
  onProgress?: (done: number, known: number) => void
  /** Stops fetching. */
  signal?: AbortSignal
}

/** The result; `said` is the output of Deno. */
export interface CacheResult {
  code: number
  /** How many files were downloaded. */
  downloads: number
  said: string
}

/** Runs the command. Cached files are not downloaded again. */
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
    // Deno fetches the descriptions of all packages first, then the packages.
    if (/\.tgz$/.test(url)) fetched.add(url)
    else known.add(url)
    onProgress(fetched.size, Math.max(known.size, fetched.size))
  }
  const { code } = await child.status
  return { code, downloads: known.size + fetched.size, said: said.join('\n') }
}
