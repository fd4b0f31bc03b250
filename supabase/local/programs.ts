/** The programs of the tasks in deno.json, and the modules to fetch before each. */

import { join } from 'node:path'
import { requireFreePorts } from './process/early_ports.ts'

export interface Program {
  /** The module's path from the project's root; it exports `main()`. */
  module: string
  /** Arguments before those of the user. */
  args?: string[]
  /** The text for `--help` and for a wrong argument, if the module reads no arguments. */
  help?: string
  /** A line to print before anything is fetched. */
  says?: string
  /** Throws a SetupError, before anything is fetched, if the program cannot run with `args`. */
  check?: (root: string, args: readonly string[]) => Promise<void>
  /** More modules that it starts: files or folders, from the root. */
  also?: (root: string) => Promise<string[]>
}

const everything = (): Promise<string[]> =>
  Promise.resolve(['supabase', 'functions', 'consumer', 'package', 'console', 'portal', 'tests'])

const workerHelp = `Deliver from a long-running process until SIGTERM or Ctrl-C.

  OUTHOOK_DB_URL=postgresql://… npx -y deno@2.9.6 task worker

  --help  show this

It takes no other argument: docs/environment.md lists its environment variables.`

const okHelp = `Check format, lint rules and types of the whole project.

  npx -y deno@2.9.6 task ok

  --help  show this

The exit code is 0 if all three pass, else that of the first that fails.`

/** The programs by task name. */
export const programs: ReadonlyMap<string, Program> = new Map<string, Program>([
  ['stack', {
    module: 'supabase/local/main.ts',
    says: 'starting the local stack',
    check: requireFreePorts,
    also: functionEntrypoints,
  }],
  ['start', {
    module: 'supabase/local/start.ts',
    says: 'starting the local stack and a first event',
    check: requireFreePorts,
    also: functionEntrypoints,
  }],
  ['worker', { module: 'functions/deliver/worker.ts', help: workerHelp }],
  ['build:worker', { module: 'supabase/local/build_worker.ts' }],
  ['consume', { module: 'consumer/main.ts' }],
  ['console', { module: 'console/main.ts' }],
  ['console:build', { module: 'console/build/main.ts' }],
  ['console:pictures', { module: 'tests/console/pictures.ts' }],
  ['portal', { module: 'portal/main.ts' }],
  ['catalogue', { module: 'portal/catalogue/main.ts' }],
  ['portal:pictures', { module: 'tests/portal/pictures.ts' }],
  ['dlq:replay', { module: 'consumer/replay.ts' }],
  ['ok', { module: 'supabase/local/ok.ts', also: everything, help: okHelp }],
  ['test', { module: 'tests/run.ts', also: everything }],
  ['soak', { module: 'tests/run.ts', args: ['--soak'], also: everything }],
  ['bench', { module: 'tests/bench/main.ts', also: everything }],
  ['bench:engine', { module: 'tests/bench/engine.ts', also: everything }],
  ['capacity', { module: 'supabase/local/capacity/main.ts' }],
  ['mutants', { module: 'tests/mutants/main.ts', also: everything }],
  ['db:build', { module: 'supabase/local/db_build.ts' }],
  ['freeze', { module: 'supabase/local/freeze.ts' }],
  ['types', { module: 'supabase/local/types.ts' }],
  ['openapi', { module: 'supabase/local/openapi.ts' }],
  ['package', {
    module: 'package/build/main.ts',
    also: () => Promise.resolve(['package/functions']),
  }],
])

/** The entrypoints of the project's functions. */
async function functionEntrypoints(root: string): Promise<string[]> {
  const found: string[] = []
  for await (const { name, isDirectory } of Deno.readDir(join(root, 'functions'))) {
    const path = `functions/${name}/index.ts`
    if (isDirectory && await isFile(join(root, path))) found.push(path)
  }
  return found.sort()
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false
    throw error
  }
}
