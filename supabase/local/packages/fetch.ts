/**
 * Fetches packages for this project's programs before they start, in the environment of the user who runs
 * the command. The programs then use only the cache.
 */

import { SetupError } from '../errors.ts'
import { throwIfInterrupted } from '../interrupted.ts'
import { startProgress } from '../progress.ts'
import { type CacheOptions, denoCache } from './deno_cache.ts'
import { denoCacheDir, fetchEnvironment } from './environment.ts'
import { fetchProblem } from './problem.ts'

/** The modules whose packages to fetch. */
export interface FetchOptions {
  modules: readonly string[]
  cwd: string
  /** The Deno to fetch for, if it is not the one that runs this. */
  deno?: string
  command?: CacheOptions['command']
  flags?: readonly string[]
  log: (line: string) => void
  signal?: AbortSignal | undefined
}

/**
 * Fetches the imports of the modules that are not in the cache. Throws a SetupError with the cause and
 * the remedy if a package cannot be fetched. It ignores other errors in a module, because the module's
 * own start reports them.
 */
export async function fetchModules(options: FetchOptions): Promise<void> {
  const { modules, cwd, deno = Deno.execPath(), command = 'cache', flags = [], log, signal } =
    options
  const { env, notes } = fetchEnvironment()
  const progress = startProgress({ log })
  const startedAt = performance.now()
  const result = await denoCache({
    deno,
    modules,
    cwd,
    command,
    flags,
    env,
    onProgress: (done, known) =>
      progress.at(done === 0 ? 'fetching packages' : `fetching packages: ${done} of ${known}`),
    ...signal === undefined ? {} : { signal },
  })
  signal?.throwIfAborted()
  if (result.code === 0) {
    if (result.downloads > 0) log(`packages fetched in ${secondsSince(startedAt)} s`)
    return
  }
  const where = { cacheDir: denoCacheDir(env), cacheVariable: 'DENO_DIR' }
  const problem = fetchProblem(result.said, where)
  if (problem === null) {
    // Ctrl-C ends the fetching too, and its end may arrive before the signal.
    await throwIfInterrupted(signal)
    return
  }
  throw new SetupError([problem, ...notes].join('\n'))
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1)
}
