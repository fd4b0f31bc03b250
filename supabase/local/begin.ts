/**
 * Starts each task of deno.json whose program imports packages: fetches the packages, then loads the
 * program, which uses only the cache (`--cached-only`). This file imports only files of this project
 * and modules of Node, so that nothing is fetched before the machine's certificates, mirror and proxy
 * are known.
 *
 *   deno run -A --cached-only supabase/local/begin.ts <task> [argument…]
 */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { machineProblem, SetupError } from './errors.ts'
import { INTERRUPTED_CODE, throwIfInterrupted } from './interrupted.ts'
import { fetchModules } from './packages/fetch.ts'
import { oldNode } from './packages/node_version.ts'
import { print, printError } from './print.ts'
import { type Program, programs } from './programs.ts'
import { projectRoot } from './schema/project.ts'

async function begin(program: Program, args: string[]): Promise<void> {
  if (program.help !== undefined && args.length > 0) helpInstead(program.help, args)
  if (program.says !== undefined) print(program.says)
  const tooOld = oldNode(Deno.env.get('npm_config_user_agent'))
  if (tooOld !== null) throw new SetupError(tooOld)
  await program.check?.(projectRoot, args)
  await fetchFor(program)
  // The program sees its own arguments, as if it had been started directly.
  Object.defineProperty(Deno, 'args', { value: [...program.args ?? [], ...args] })
  // The path is computed, so that Deno does not resolve the packages before they are fetched.
  const { main }: { main(): Promise<unknown> } = await import(
    pathToFileURL(join(projectRoot, program.module)).href
  )
  await main()
}

/** Prints the help, asked or for an argument of a program that takes none, and exits. */
function helpInstead(help: string, args: readonly string[]): never {
  if (args.includes('--help') || args.includes('-h')) {
    print(help)
    Deno.exit(0)
  }
  printError(`Unknown argument "${args[0]}"\n\n${help}`)
  Deno.exit(2)
}

async function fetchFor(program: Program): Promise<void> {
  const stopping = new AbortController()
  const stop = (): void => stopping.abort()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) Deno.addSignalListener(signal, stop)
  try {
    const modules = [program.module, ...await program.also?.(projectRoot) ?? []]
    await fetchModules({ modules, cwd: projectRoot, log: printError, signal: stopping.signal })
    // A signal that arrived after the last wait of the fetching is passed to its listener only now.
    await new Promise((resolve) => setTimeout(resolve))
    if (stopping.signal.aborted) Deno.exit(INTERRUPTED_CODE)
  } catch (error) {
    await throwIfInterrupted(stopping.signal).catch(() => Deno.exit(INTERRUPTED_CODE))
    throw error
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, stop)
  }
}

const [name = '', ...args] = Deno.args
const program = programs.get(name)
if (program === undefined) {
  printError(`There is no task "${name}": deno task lists them`)
  Deno.exit(2)
}
try {
  await begin(program, args)
} catch (error) {
  const told = error instanceof SetupError ? error.message : machineProblem(error)
  if (told === null) throw error
  printError(told)
  Deno.exit(1)
}
