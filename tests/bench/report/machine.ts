/** Where and with what a run was made. */

import { nodeVersion, versions } from '../setup/peers.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'

export interface Machine {
  cpu: string
  cores: number
  memoryGb: number
  system: string
}

/** The machine as its kernel tells it. */
export function readMachine(): Machine {
  const cpu = /model name\s*: (.*)/.exec(Deno.readTextFileSync('/proc/cpuinfo'))?.[1] ??
    'unknown CPU'
  return {
    cpu,
    cores: navigator.hardwareConcurrency,
    memoryGb: Math.round(Deno.systemMemoryInfo().total / 2 ** 30),
    system: `Linux ${Deno.osRelease()}`,
  }
}

/** The highest load average at the start of a run: with more, other programs would change the figures. */
export const defaultLoad = 1

/** The bound that `--load` gives; throws a message for the person who typed it. */
export function loadOf(text: string): number {
  const load = Number(text)
  if (text.trim() !== '' && Number.isFinite(load) && load > 0) return load
  throw new Error(`--load takes a number above 0, not ${text}`)
}

/** Why not to measure at this load average, or null. */
export function loadProblem(load: number, most: number): string | null {
  if (load <= most) return null
  return `The load average of this machine is ${
    load.toFixed(1)
  }, above ${most}: other programs would ` +
    `change the figures. Wait until it is idle, or measure all the same with --load ${
      Math.ceil(load)
    }`
}

/** Versions of all that was measured; those of the servers are asked of them. */
export function readVersions(servers: Record<string, string>): Record<string, string> {
  const { esbuild: _, ...peers } = versions
  return { deno: Deno.version.deno, node: nodeVersion, ...servers, ...peers }
}

/** The commit that the files are of, with a + when they were changed since. */
export async function readCommit(): Promise<string> {
  const commit = await git('rev-parse', '--short', 'HEAD')
  // Results are written by the run itself.
  const changed = await git(
    ...['status', '--porcelain', '--', 'functions', 'sql', 'supabase', 'tests/bench/*.ts'],
    ...['tests/bench/run', 'tests/bench/setup', 'tests/bench/sides', 'tests/bench/questions'],
  )
  return changed === '' ? commit : `${commit}+`
}

async function git(...args: string[]): Promise<string> {
  const { success, stdout } = await new Deno.Command('git', { args, cwd: projectRoot }).output()
    .catch(() => ({ success: false, stdout: new Uint8Array() }))
  return success ? new TextDecoder().decode(stdout).trim() : 'unknown'
}
