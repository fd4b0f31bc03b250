import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import type { IntoFlags } from '../../consume/into.ts'
import { endWithNpm } from '../../worker/parent.ts'
import type { Terminal } from '../terminal.ts'

/** Consumes until SIGTERM, SIGINT or SIGHUP, by the module at `path`, and returns the exit code. */
export async function consume(
  path: string,
  flags: IntoFlags,
  { print, printError }: Terminal,
): Promise<number> {
  // SAFETY: the build bundles this module.
  const module = await import(pathToFileURL(path).href) as typeof import('../../consume/into.ts')
  const stop = new AbortController()
  const end = (): void => stop.abort()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)
  endWithNpm(process.env, end)
  return await module.runInto(flags, {
    env: process.env,
    readFile: (file) => readFile(file, 'utf8'),
    print,
    printError,
    stop: stop.signal,
  })
}
